"""The functions of a source file, by the name and line that the log has for them, and the statements of each.

Read afterwards, to follow a value through lines that ran. Nothing is imported or executed.
"""

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from operator import itemgetter

from gradsan.source.disk import tree_as_run
from gradsan.source.tree import COMPREHENSIONS, SCOPES, Function, first_line

_COMPREHENSION_NAMES: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
MODULE = "<module>"


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A function, a class body or a module, as a code object has it."""

    file: str
    name: str
    first: int
    last: int
    outer: "Scope | None" = None  # the function around it, or the module
    arguments: ast.arguments | None = None
    owner: str | None = None  # the class whose method it is
    is_static: bool = True  # it is given no object
    is_generator: bool = False
    elsewhere: frozenset[str] = frozenset()  # names it declares `global` or `nonlocal`
    decorators: tuple[ast.expr, ...] = ()
    by_line: dict[int, tuple[ast.stmt, ...]] = field(default_factory=dict)

    @property
    def is_transparent(self) -> bool:
        """Whether its names and lines belong to the statement around it: a comprehension."""
        return self.name in _COMPREHENSION_NAMES.values()


def scope_of(file: str, function: str, line: int) -> Scope | None:
    """The function of that (qualified) name that has that line; `None` where its source cannot be read."""
    name = function.rpartition(".")[2]
    found = [each for each in _scopes(file).called(name, line) if each.first <= line <= each.last]
    return max(found, key=lambda each: each.first, default=None)


def statements_of(scope: Scope) -> set[ast.stmt]:
    """The statements of a function's own."""
    return {statement for statements in scope.by_line.values() for statement in statements}


_Closed = tuple[int, Function, Scope, str | None]  # its first line, where it stands, and the class whose method it is
_ByName = dict[str, list[Scope]]


class _Scopes:
    """The scopes of a file. A function is opened when one of its lines is asked for: most of a large file never are."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._functions: list[_Closed] = []  # in the order of the file
        self._outside: _ByName = {}
        self._inside: dict[int, _ByName] = {}  # by the place of the function
        tree = tree_as_run(file)
        if tree is not None:
            module = Scope(file, MODULE, 0, 1 << 30, is_static=False)
            self._outside = _opened(module, tree.body, None, self._functions)
            self._functions.sort(key=itemgetter(0))

    def called(self, name: str, line: int) -> list[Scope]:
        """Those of that name that may have that line."""
        place = bisect_right(self._functions, line, key=itemgetter(0)) - 1
        inside = self._in_function(place).get(name, ()) if place >= 0 else ()
        return [*self._outside.get(name, ()), *inside]

    def _in_function(self, place: int) -> _ByName:
        found = self._inside.get(place)
        if found is None:
            _, function, outer, owner = self._functions[place]
            scope = _scope_at(self._file, function, outer, owner)
            opened = {} if scope is None else _opened(scope, function.body, None)
            found = self._inside.setdefault(place, opened)  # one for all threads: scopes differ by identity
        return found


_scopes = lru_cache(maxsize=64)(_Scopes)


def _opened(
    scope: Scope, body: Iterable[ast.AST], owner: str | None, functions: list[_Closed] | None = None
) -> _ByName:
    """A scope and all within it. Functions that stand in none are only put into the list, where there is one."""
    found: _ByName = defaultdict(list)
    pending = [(scope, body, owner)]
    while pending:
        scope, body, owner = pending.pop()
        found[scope.name].append(scope)
        for node in _within(body):
            if isinstance(node, ast.stmt):
                _enter_lines(scope, node)
            if functions is not None and isinstance(node, Function):
                functions.append((first_line(node), node, scope, owner))
                continue
            inner = _scope_at(scope.file, node, scope, owner)
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
    """The scope that a node opens; None: none."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
    around = outer if owner is None else outer.outer
    if isinstance(node, Function):
        return _function(file, node, around, owner)
    if isinstance(node, ast.ClassDef):
        return Scope(file, node.name, first_line(node), last, outer)
    if isinstance(node, ast.Lambda):
        return Scope(file, "<lambda>", first, last, around, node.args)
    name = _COMPREHENSION_NAMES.get(type(node))
    return None if name is None else Scope(file, name, first, last, around)


def _function(file: str, node: Function, outer: Scope | None, owner: str | None) -> Scope:
    own = list(_within(node.body))
    declared = [each.names for each in own if isinstance(each, (ast.Global, ast.Nonlocal))]
    return Scope(
        file,
        node.name,
        first_line(node),
        node.end_lineno or 0,
        outer,
        node.args,
        owner,
        is_static="staticmethod" in (getattr(each, "id", "") for each in node.decorator_list),
        is_generator=any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own),
        elsewhere=frozenset(chain.from_iterable(declared)),
        decorators=tuple(node.decorator_list),
    )


def _within(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a scope, and the scopes directly within, unopened, in the order of the source."""
    pending = list(body)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            pending.extend(list(ast.iter_child_nodes(node))[::-1])


def _enter_lines(scope: Scope, statement: ast.stmt) -> None:
    last = statement.end_lineno or statement.lineno
    block = getattr(statement, "body", None)
    if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
        last = max(statement.lineno, block[0].lineno - 1)
    for line in range(statement.lineno, last + 1):
        scope.by_line[line] = (*scope.by_line.get(line, ()), statement)
