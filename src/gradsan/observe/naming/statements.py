"""The statements of a source file, by the function and line that the log names, and what each of them stores.

Read afterwards, to follow a value through lines that ran. Nothing is imported or executed.
"""

import ast
import linecache
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

# One step into a value: the attribute of that name, or the item of that key; `None`: some item, which is not known.
Selector = tuple[str, str | int | None]
Path = tuple[Selector, ...]

SOME_ITEM: Selector = ("item", None)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPREHENSION_NAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
MODULE = "<module>"


@dataclass(frozen=True, slots=True)
class Store:
    """What a statement puts where. `name` and `path` say where: `h`, `states["h"]`, an attribute of anything."""

    target: ast.expr  # as written
    name: str | None  # the variable at the root of the target; `None` where the root is an expression
    path: Path  # from that root to what is stored
    value: ast.expr | None  # where the new value comes from; `None`: from nothing that could hold a graph
    value_path: Path  # the part of `value` that is stored
    replaces: bool  # the old value is gone; otherwise it has something more in it
    in_place: bool = False  # the statement may have made the op that the target has now

    @property
    def attribute(self) -> str | None:
        """The last attribute on the way to the target, by which a store is found whatever its object is called."""
        return next((str(key) for kind, key in reversed(self.path) if kind == "attr"), None)

    @property
    def attribute_path(self) -> Path:
        """What follows that attribute."""
        after = next((n for n in range(len(self.path), 0, -1) if self.path[n - 1][0] == "attr"), 0)
        return self.path[after:]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A function, a class body or a module, as a code object has it."""

    file: str
    name: str
    first: int
    last: int
    arguments: ast.arguments | None
    owner: str | None  # the class whose method it is
    outer: "Scope | None"  # the function around it, or the module
    is_static: bool
    is_generator: bool
    elsewhere: frozenset[str]  # names it declares `global` or `nonlocal`
    by_line: dict[int, tuple[ast.stmt, ...]] = field(default_factory=dict)

    @property
    def is_transparent(self) -> bool:
        """Whether its names and lines belong to the statement around it: a comprehension."""
        return self.name in _COMPREHENSION_NAMES


def scope_of(file: str, function: str, line: int) -> Scope | None:
    """The function of that (qualified) name that has that line; `None` where its source cannot be read."""
    name = function.rpartition(".")[2]
    found = [each for each in _scopes(file).get(name, ()) if each.first <= line <= each.last]
    return max(found, key=lambda each: each.first, default=None)


@lru_cache(maxsize=64)
def buffers(file: str) -> frozenset[str]:
    """The names that a file registers as buffers of modules."""
    statements = {each for scopes in _scopes(file).values() for scope in scopes for each in _statements(scope)}
    return frozenset(
        str(call.args[0].value)
        for statement in statements
        for call in calls(statement)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "register_buffer"
        if call.args and isinstance(call.args[0], ast.Constant)
    )


def _statements(scope: Scope) -> set[ast.stmt]:
    return {statement for statements in scope.by_line.values() for statement in statements}


@lru_cache(maxsize=4096)
def assigned(scope: Scope) -> frozenset[str]:
    """The variables of a function's own: its parameters, and what it assigns."""
    found: set[str] = set()
    for statement in _statements(scope):
        found.update(store.name for store in stores(statement) if store.replaces and not store.path and store.name)
    if scope.arguments is not None:
        found.update(parameters(scope.arguments))
    return frozenset(found) - scope.elsewhere


def parameters(arguments: ast.arguments) -> tuple[str, ...]:
    """The names of all parameters."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found.extend(each for each in (arguments.vararg, arguments.kwarg) if each is not None)
    return tuple(each.arg for each in found)


@lru_cache(maxsize=4096)
def stores(statement: ast.stmt) -> tuple[Store, ...]:
    """Everything a statement stores, in the order in which it does."""
    return tuple(_stores(statement))


@lru_cache(maxsize=4096)
def comprehended(statement: ast.stmt) -> dict[str, tuple[ast.expr, Path]]:
    """The variables of a statement's comprehensions, each with what it runs over."""
    found: dict[str, tuple[ast.expr, Path]] = {}
    for node in parts(statement):
        if isinstance(node, _COMPREHENSIONS):
            for each in node.generators:
                for target, path in _unpacked(each.target, (SOME_ITEM,)):
                    if isinstance(target, ast.Name):
                        found[target.id] = (each.iter, path)
    return found


@lru_cache(maxsize=4096)
def calls(statement: ast.stmt) -> tuple[ast.Call, ...]:
    """The calls of a statement in the order in which they are made."""
    return tuple(node for node in _evaluated(statement) if isinstance(node, ast.Call))


@lru_cache(maxsize=4096)
def loads(statement: ast.stmt) -> tuple[ast.expr, ...]:
    """The names, attributes and items that a statement reads, the longest form of each."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = list(heads(statement))
    while pending:
        node = pending.pop(0)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            found.append(node)
            if isinstance(node, ast.Name):
                continue
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return tuple(found)


def heads(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that run at a statement's own lines, not those of the block below it."""
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            yield test
        case ast.For(iter=each) | ast.AsyncFor(iter=each):
            yield each
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from (item.context_expr for item in items)
        case ast.Match(subject=subject):
            yield subject
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Try():
            return
        case ast.AugAssign(target=target, value=value):
            yield from (target, value)
        case ast.Assign(targets=targets, value=value):
            yield value
            for each in targets:  # `est[0] = 0.5` reads `est`
                yield from (part.value for part, _ in _unpacked(each, ()) if isinstance(part, ast.Subscript))
        case _:
            yield from (node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr))


def parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Every node that runs at a statement's own lines."""
    for head in heads(statement):
        yield from ast.walk(head)


def text(node: ast.expr) -> str | None:
    """A variable as the user wrote it: names, attributes and constant items; `None` for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            owner = text(value)
            return None if owner is None else f"{owner}.{attr}"
        case ast.Subscript(value=value, slice=key):
            owner, constant = text(value), _constant(key)
            if owner is None or constant is None:
                return owner
            return f'{owner}["{constant}"]' if isinstance(constant, str) else f"{owner}[{constant}]"
    return None


def selector(node: ast.Subscript) -> Selector:
    """The step that `value[slice]` takes."""
    return ("item", _constant(node.slice))


def _constant(node: ast.expr) -> str | int | None:
    match node:
        case ast.Constant(value=str() | int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, arguments before their calls."""
    pending: list[tuple[ast.AST, bool]] = [(head, False) for head in reversed(list(heads(statement)))]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            yield node
        elif not isinstance(node, ast.Lambda):
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(list(ast.iter_child_nodes(node))))


def _unpacked(target: ast.expr, path: Path) -> Iterator[tuple[ast.expr, Path]]:
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            starred = next((n for n, each in enumerate(elements) if isinstance(each, ast.Starred)), len(elements))
            for position, element in enumerate(elements):
                known = position if position < starred else None
                yield from _unpacked(element, (*path, ("item", known)))
        case ast.Starred(value=value):
            yield value, path[:-1]
        case _:
            yield target, path


def _stores(statement: ast.stmt) -> Iterator[Store]:  # noqa: C901, PLR0912 # one case a kind of statement
    for node in parts(statement):
        if isinstance(node, ast.NamedExpr):
            yield from _store(node.target, node.value)
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _store(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _store(target, value)
        case ast.AugAssign(target=target, op=op, value=value):
            both = ast.copy_location(ast.BinOp(left=target, op=op, right=value), statement)
            yield from _store(target, both)
        case ast.For(target=target, iter=each) | ast.AsyncFor(target=target, iter=each):
            yield from _store(target, each, (SOME_ITEM,))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _store(item.optional_vars, item.context_expr)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield Store(ast.Name(id=name), name, (), None, (), replaces=True)
        case ast.Delete(targets=targets):
            for target in targets:
                yield from _store(target, None)
    yield from _mutations(statement)


def _store(target: ast.expr, value: ast.expr | None, value_path: Path = ()) -> Iterator[Store]:
    for each, path in _unpacked(target, value_path):
        name, to = _root(each)
        replaces = not isinstance(each, ast.Subscript)
        yield Store(each, name, to, value, path, replaces=replaces, in_place=not replaces)


# Modules that are called so by everyone.
LIBRARIES = frozenset({"torch", "F", "nn", "np", "numpy", "math", "functional"})

# Methods that put their arguments into their object.
_MUTATORS = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "add", "update", "put", "push", "store", "write"}
    | {"setdefault", "put_nowait", "enqueue"}
)


def _mutations(statement: ast.stmt) -> Iterator[Store]:
    """Calls that change their object: `losses.append(loss)`, `buffer.copy_(h)`, `setattr(model, "h", h)`."""
    for call in calls(statement):
        match call:
            case ast.Call(func=ast.Attribute(value=value, attr="register_buffer"), args=[ast.Constant(value=key), *_]):
                if len(call.args) > 1:
                    yield from _store(ast.Attribute(value=value, attr=str(key)), call.args[1])
            case ast.Call(func=ast.Name(id="setattr"), args=[value, ast.Constant(value=key), new]):
                yield from _store(ast.Attribute(value=value, attr=str(key)), new)
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                is_in_place = method.endswith("_") and not method.startswith("_")
                is_alone = isinstance(statement, ast.Expr) and statement.value is call  # its result is dropped
                name, to = _root(value)
                if name in LIBRARIES or not (is_in_place or method in _MUTATORS or is_alone):
                    continue
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                for each in given or ([value] if is_in_place else []):
                    is_item = method not in {"extend", "extendleft", "update"} and not is_in_place
                    yield Store(
                        value,
                        name,
                        (*to, SOME_ITEM) if is_item else to,
                        each.value if isinstance(each, ast.Starred) else each,
                        (),
                        replaces=False,
                        in_place=is_in_place,
                    )


def _root(node: ast.expr) -> tuple[str | None, Path]:
    path: list[Selector] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        path.append(("attr", node.attr) if isinstance(node, ast.Attribute) else selector(node))
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), tuple(reversed(path))


@lru_cache(maxsize=64)
def _scopes(file: str) -> dict[str, list[Scope]]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, list[Scope]] = defaultdict(list)
    module = Scope(file, MODULE, 0, 1 << 30, None, None, None, False, False, frozenset())  # noqa: FBT003 # as declared
    pending: list[tuple[Scope, Iterable[ast.AST], str | None]] = [(module, tree.body, None)]
    while pending:
        scope, body, owner = pending.pop()
        found[scope.name].append(scope)
        for node in _within(body):
            if isinstance(node, ast.stmt):
                _enter_lines(scope, node)
            inner = _scope_at(file, node, scope, owner)
            if inner is not None:
                pending.append((inner, *_inside(node)))
    return found


def _inside(node: ast.AST) -> tuple[Iterable[ast.AST], str | None]:
    match node:
        case ast.ClassDef(body=body, name=name):
            return body, name
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return body, None
        case ast.Lambda(body=value):
            return [ast.copy_location(ast.Return(value=value), value)], None
    return list(ast.iter_child_nodes(node)), None


def _scope_at(file: str, node: ast.AST, outer: Scope, owner: str | None) -> Scope | None:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    function = outer.outer if owner is not None else outer
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            first = min((first, *(each.lineno for each in node.decorator_list)))
            static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
            own = list(_within(node.body))
            sleeps = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own)
            declared = (each.names for each in own if isinstance(each, (ast.Global, ast.Nonlocal)))
            elsewhere = frozenset(name for names in declared for name in names)
            return Scope(file, node.name, first, last, node.args, owner, function, static, sleeps, elsewhere)
        case ast.Lambda():
            return Scope(file, "<lambda>", first, last, node.args, None, function, True, False, frozenset())  # noqa: FBT003 # as declared
        case ast.ClassDef():
            first = min((first, *(each.lineno for each in node.decorator_list)))
            return Scope(file, node.name, first, last, None, None, outer, True, False, frozenset())  # noqa: FBT003 # as declared
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            name = f"<{type(node).__name__.lower().replace('generatorexp', 'genexpr')}>"
            return Scope(file, name, first, last, None, None, function, True, False, frozenset())  # noqa: FBT003 # as declared
    return None


def _within(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a scope, and the scopes directly within, unopened, in the order of the source."""
    pending = list(body)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, *_COMPREHENSIONS)):
            pending.extend(list(ast.iter_child_nodes(node))[::-1])


def _enter_lines(scope: Scope, statement: ast.stmt) -> None:
    last = statement.end_lineno or statement.lineno
    block = getattr(statement, "body", None)
    if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
        last = max(statement.lineno, block[0].lineno - 1)
    for line in range(statement.lineno, last + 1):
        scope.by_line[line] = (*scope.by_line.get(line, ()), statement)
