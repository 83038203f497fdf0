"""What a piece of code reads, binds and calls, as far as its names say."""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from gradsan.source.file import expression
from gradsan.source.imported import imported
from gradsan.source.tree import COMPREHENSIONS, SCOPES, Function, same, same_as
from gradsan.source.unpacking import unpacked

Code = ast.AST | Iterable[ast.AST]


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node in which other nodes may stand."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        """Of most kinds, those that hold no names, and not how a name is used."""
        self[kind] = () if kind is ast.Constant else tuple(each for each in kind._fields if each not in _WITHOUT_NODES)
        return self[kind]


_WITHOUT_NODES = frozenset({"id", "attr", "ctx", "kind", "type_comment", "level", "module", "conversion", "is_async"})
_FIELDS = _Fields()


def nodes(code: Code, *, into_functions: bool = True) -> Iterator[ast.AST]:
    """Everything in it, itself first; `into_functions`: also what runs when an inner function is called.

    Without the marks that say how a name is used.
    """
    waiting = [*_roots(code)][::-1]
    while waiting:
        node = waiting.pop()
        yield node
        inside = _children(node)
        waiting += inside[::-1] if into_functions else [each for each in inside[::-1] if not isinstance(each, SCOPES)]


def _children(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, in a third of the time: trees are walked more than anything else."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


@lru_cache(maxsize=2048)
def own_nodes(code: ast.AST) -> tuple[ast.AST, ...]:
    """Everything in it, without inner functions; it is asked for again and again while a file is read."""
    return tuple(nodes(code, into_functions=False))


def calls(code: Code) -> list[ast.Call]:
    """The calls in it, without those of inner functions."""
    return [each for each in nodes(code, into_functions=False) if isinstance(each, ast.Call)]


@lru_cache(maxsize=4096)
def called_names(code: ast.AST) -> frozenset[str]:
    """The names of the calls in it, without those of inner functions."""
    return frozenset(map(called_name, calls(code)))


def called_name(call: ast.Call) -> str:
    """The last part of what is called: `step` of `self.opt.step()`."""
    return last_name(call.func)


def last_name(node: ast.expr) -> str:
    """The name that an expression ends with: `b` of `a.b`; nothing, where it is no name."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def dotted(node: ast.expr) -> str:
    """`a.b.c`; nothing, where it is no such name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            owner = dotted(value)
            return owner and f"{owner}.{name}"
    return ""


def given(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by place or by name."""
    return [*call.args, *(each.value for each in call.keywords)]


def argument(call: ast.Call, name: str) -> ast.expr | None:
    """What a call is given by that name."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def optimized(call: ast.Call) -> list[tuple[ast.expr, bool]]:
    """What an optimizer is given, groups taken apart: each tensor, or what holds several (True)."""
    given = argument(call, "params") or next(iter(call.args), None)
    groups = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    in_groups = [_item(each, "params") for each in groups if isinstance(each, ast.Dict)]
    found: list[tuple[ast.expr, bool]] = []
    for each in filter(None, in_groups or [given]):
        match each:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                found += [(part, False) for part in parts]
            case _:
                found.append((each, True))
    return found


def _item(whole: ast.Dict, key: str) -> ast.expr | None:
    pairs = zip(whole.keys, whole.values, strict=True)
    return next((value for each, value in pairs if isinstance(each, ast.Constant) and each.value == key), None)


def says_true(value: ast.expr | None) -> bool:
    """Whether an expression is the word `True`."""
    return isinstance(value, ast.Constant) and value.value is True


def says_false(value: ast.expr | None) -> bool:
    """Whether an expression is the word `False`."""
    return isinstance(value, ast.Constant) and value.value is False


def call_of(statement: ast.AST) -> ast.Call | None:
    """The call that a statement consists of."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return call
    return None


def targets(statement: ast.AST) -> list[ast.expr]:
    """What an assignment assigns to, tuples taken apart."""
    match statement:
        case ast.Assign(targets=assigned):
            return [part for each in assigned for part, _ in unpacked(each)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [part for part, _ in unpacked(target)]
    return []


def assigns(statement: ast.AST, name: str) -> bool:
    """Whether it is an assignment to this."""
    return any(same_as(each, name) for each in targets(statement))


def assigned_names(code: Code) -> set[str]:
    """The plain names that it binds in its own scope; of a function, those that it binds inside."""
    found: set[str] = set()
    for root in _roots(code):
        found.update(bound_inside(root))
        if isinstance(root, Function | ast.ClassDef):
            found |= assigned_names(root.body)
    return found


def bound_inside(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds in its own scope, whatever is inside of it."""
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
        return
    yield from bound_by(node)
    for each in ast.iter_child_nodes(node):
        yield from bound_inside(each)


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a single node binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.name for each in imported(node))
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def parameters(arguments: ast.arguments) -> tuple[str, ...]:
    """The names of all parameters."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found.extend(each for each in (arguments.vararg, arguments.kwarg) if each is not None)
    return tuple(each.arg for each in found)


def loaded(code: Code, wanted: str) -> list[ast.expr]:
    """The places in which this expression is read, outermost nodes only; what is assigned to is not read."""
    expected = expression(wanted)
    return [] if expected is None else list(_reads(code, lambda node: same(node, expected)))


def loaded_names(code: Code) -> set[str]:
    """The plain names that are read in it, without those that a comprehension or a lambda binds for itself."""
    found = _reads(code, lambda node: isinstance(node, ast.Name))
    return {each.id for each in found if isinstance(each, ast.Name)}


def _reads(code: Code, is_wanted: Callable[[ast.AST], bool]) -> Iterator[ast.expr]:
    for node in _roots(code):
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store) and is_wanted(node):
            yield node
        elif isinstance(node, ast.AugAssign) and is_wanted(node.target):
            yield node.target
            yield from _reads(node.value, is_wanted)
        elif isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            yield from _reads_around(node, is_wanted)
        else:
            yield from _reads(_evaluated(node), is_wanted)


def _reads_around(node: ast.AST, is_wanted: Callable[[ast.AST], bool]) -> Iterator[ast.expr]:
    """What is read in a scope of its own, and is bound around it; the first iterable is evaluated outside."""
    match node:
        case ast.Lambda(args=arguments, body=body):
            own, inside = {*parameters(arguments)}, list[ast.AST]([body])
        case ast.DictComp(generators=[first, *more]):
            own, inside = _bound_in(first, *more), [node.key, node.value, *first.ifs, *more]
            yield from _reads(first.iter, is_wanted)
        case (
            ast.ListComp(generators=[first, *more])
            | ast.SetComp(generators=[first, *more])
            | ast.GeneratorExp(generators=[first, *more])
        ):
            own, inside = _bound_in(first, *more), [node.elt, *first.ifs, *more]
            yield from _reads(first.iter, is_wanted)
        case _:
            return
    for each in _reads(inside, is_wanted):
        if own.isdisjoint(part.id for part in ast.walk(each) if isinstance(part, ast.Name)):
            yield each


def _bound_in(*generators: ast.comprehension) -> set[str]:
    return {name for each in generators for part in ast.walk(each.target) for name in bound_by(part)}


def _evaluated(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that are evaluated: of a function its body, and no annotations."""
    match node:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return body
        case ast.AnnAssign(target=target, value=value):
            return [target, *([] if value is None else [value])]
    return ast.iter_child_nodes(node)


def _roots(code: Code) -> Iterable[ast.AST]:
    return [code] if isinstance(code, ast.AST) else code
