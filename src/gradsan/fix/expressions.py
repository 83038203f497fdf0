"""Questions about expressions, and their text."""

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

_EMPTY = cst.Module([])
_INNER_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
# What may stand before a dot without brackets.
_ATOMS = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.Tuple, cst.List, cst.Dict, cst.ListComp, cst.DictComp)


def text(node: cst.CSTNode) -> str:
    """How it is written, without comments around it."""
    return _EMPTY.code_for_node(node).strip()


def parse(code: str) -> cst.BaseExpression | None:
    """The expression, where it is one."""
    try:
        return cst.parse_expression(code)
    except (cst.ParserSyntaxError, ValueError):
        return None


def bracketed(expression: cst.BaseExpression) -> cst.BaseExpression:
    """With brackets around it where a dot follows."""
    if isinstance(expression, _ATOMS) and not (isinstance(expression, cst.Tuple) and not expression.lpar):
        return expression
    if expression.lpar:
        return expression
    return expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def bracketed_text(expression: cst.BaseExpression) -> str:
    """How it is written where a dot may follow."""
    return text(bracketed(expression))


def method(expression: cst.BaseExpression, name: str) -> cst.Call:
    """`expression.name()`."""
    return cst.Call(cst.Attribute(bracketed(expression), cst.Name(name)))


def small(code: str) -> cst.BaseSmallStatement:
    """The statement that a line of code is, without the line."""
    statement = cst.parse_statement(code)
    if not isinstance(statement, cst.SimpleStatementLine):
        raise TypeError(f"{code!r} is no simple statement")
    return statement.body[0]


def nodes(root: cst.CSTNode, *, into_functions: bool = True) -> Iterator[cst.CSTNode]:
    """Everything in it, itself first, in the order of the text."""
    yield root
    for each in root.children:
        if into_functions or not isinstance(each, _INNER_SCOPES):
            yield from nodes(each, into_functions=into_functions)


def targets(statement: cst.CSTNode) -> list[cst.BaseExpression]:
    """What a statement of one line assigns to, tuples taken apart."""
    found: list[cst.BaseExpression] = []
    for each in _small(statement):
        if isinstance(each, cst.Assign):
            for target in each.targets:
                found += _leaves(target.target)
        elif isinstance(each, cst.AugAssign | cst.AnnAssign):
            found += _leaves(each.target)
    return found


def assigned_names(root: cst.CSTNode) -> set[str]:
    """The plain names that anything in it binds."""
    found: set[str] = set()
    for node in nodes(root, into_functions=False):
        match node:
            case cst.SimpleStatementLine():
                found |= {each.value for each in targets(node) if isinstance(each, cst.Name)}
            case cst.For(target=target) | cst.CompFor(target=target):
                found |= {each.value for each in _leaves(target) if isinstance(each, cst.Name)}
            case cst.AsName(name=cst.Name(value=value)) | cst.NamedExpr(target=cst.Name(value=value)):
                found.add(value)
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                found.add(name.value)
    return found


def is_only_given(scope: cst.CSTNode, name: str) -> bool:
    """Whether a function has it from its caller and never gives it a value: bound anew there, nobody would know."""
    if not isinstance(scope, cst.FunctionDef):
        return False
    given = (*scope.params.posonly_params, *scope.params.params, *scope.params.kwonly_params)
    return any(each.name.value == name for each in given) and name not in assigned_names(scope.body)


def loaded(root: cst.CSTNode, wanted: str) -> list[cst.BaseExpression]:
    """The places in which this expression is read, outermost nodes only; what is assigned to is not read."""
    found: list[cst.BaseExpression] = []
    plain = _plain(wanted)
    _find_loads(root, lambda node: _plain(text(node)) == plain, found)
    return found


def same_text(node: cst.CSTNode, code: str) -> bool:
    """Whether it is written like this, whatever the quotes and spaces."""
    return _plain(text(node)) == _plain(code)


def _plain(code: str) -> str:
    """The same for every way of writing it: `d['x']` and `d["x"]`."""
    return code.replace("'", '"').replace(" ", "")


def loaded_names(root: cst.CSTNode) -> set[str]:
    """The plain names that are read in it."""
    found: list[cst.BaseExpression] = []
    _find_loads(root, lambda node: isinstance(node, cst.Name), found)
    return {each.value for each in found if isinstance(each, cst.Name)}


def simple(statement: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The one small statement of a line, where there is one only."""
    small = _small(statement)
    return small[0] if len(small) == 1 else None


def call_of(statement: cst.CSTNode) -> cst.Call | None:
    """The call that a line consists of."""
    match simple(statement):
        case cst.Expr(value=cst.Call() as call):
            return call
    return None


def _small(statement: cst.CSTNode) -> list[cst.BaseSmallStatement]:
    return list(statement.body) if isinstance(statement, cst.SimpleStatementLine) else []


def _leaves(target: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(target, cst.Tuple | cst.List):
        return [leaf for element in target.elements for leaf in _leaves(element.value)]
    return [target]


def _find_loads(node: cst.CSTNode, is_wanted: Callable[[cst.CSTNode], bool], found: list[cst.BaseExpression]) -> None:
    if isinstance(node, cst.BaseExpression) and is_wanted(node):
        found.append(node)
        return
    for each in _read_parts(node):
        if each is not None:
            _find_loads(each, is_wanted, found)


def _read_parts(node: cst.CSTNode) -> Iterable[cst.CSTNode | None]:
    """The parts that are evaluated: not the name of an attribute or keyword, and of a target only what it stands on."""
    parts: Iterable[cst.CSTNode | None] = node.children
    match node:
        case cst.Attribute(value=value) | cst.Arg(value=value):
            parts = [value]
        case cst.AssignTarget(target=target):
            parts = _stands_on(target)
        case cst.AnnAssign(target=target, value=value):
            parts = [*_stands_on(target), value]
        case cst.For():
            parts = [node.iter, *_stands_on(node.target), node.body, node.orelse]
        case cst.CompFor():
            parts = [node.iter, *node.ifs, node.inner_for_in]
        case cst.FunctionDef(body=body) | cst.Lambda(body=body):
            parts = [body]
    return parts


def _stands_on(target: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    for leaf in _leaves(target):
        if isinstance(leaf, cst.Attribute):
            yield leaf.value
        elif isinstance(leaf, cst.Subscript):
            yield leaf.value
            yield from leaf.slice
