"""What a function does with a variable: whether it only notes its value, or does something with it."""

import ast
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from gradsan.facts.location import Frame
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.observe.log.source_loops import Loop
from gradsan.source.disk import tree_as_run
from gradsan.source.stores import selector

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Uses:
    """Where a variable is read, and whether only to note its value."""

    read: tuple[tuple[int, bool], ...]  # line, whether its value is only noted there

    @property
    def is_read(self) -> bool:
        """Whether it is read at all."""
        return bool(self.read)

    @property
    def is_used(self) -> bool:
        """Whether something is done with it."""
        return any(not noted for _, noted in self.read)

    def but_for(self, line: int) -> "Uses":
        """Without what is read on one line."""
        return Uses(tuple(each for each in self.read if each[0] != line))

    def is_used_in(self, loop: Loop) -> bool:
        """Whether something is done with it inside a loop."""
        return any(not noted and loop.holds(line) for line, noted in self.read)


_UNKNOWN = Uses(((0, False),))  # as if it were used


def uses_of(name: str, file: str, function: str, line: int) -> Uses:
    """Everything that the function around a line does with a variable, but for that line itself."""
    scope = _scope(file, function.rpartition(".")[2], line)
    if scope is None:
        return _UNKNOWN
    return Uses(tuple(_reads(name, scope, line, noted=False)))


def uses_of_item(variable: str, keys: Container[str | int], asking: Frame, created: int) -> Uses:
    """Everything that a function does with one item of a variable, or with all of it; but for the line `created`.

    `keys`: by which the item can be reached, as `0` and `-3` in a list of three. To put something in reads nothing.
    """
    scope = _scope(asking.file, asking.function.rpartition(".")[2], asking.line)
    if scope is None:
        return _UNKNOWN
    others = set()
    for node in ast.walk(scope):
        match node:
            case ast.Subscript(value=value) if (key := selector(node)[1]) is not None and key not in keys:
                others.add(id(value))
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if does(method, "stores"):
                others.add(id(value))
    return Uses(tuple(_reads(variable, scope, created, noted=False, apart=others)))


def uses_of_attribute(name: str, files: Iterable[str]) -> Uses:
    """Everything that some files do with attributes of that name."""
    return Uses(tuple((line, noted) for file in files for read, line, noted in _attributes_read(file) if read == name))


@lru_cache(maxsize=64)
def _attributes_read(file: str) -> tuple[tuple[str, int, bool], ...]:
    tree = tree_as_run(file)
    return () if tree is None else tuple(_loaded_attributes(tree, noted=False))


def _loaded_attributes(node: ast.AST, *, noted: bool) -> Iterator[tuple[str, int, bool]]:
    """Names that are read after a dot, or may be, as in `getattr(module, "name")`."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Constant(value=str(name)):
                yield name, child.lineno, noted
        yield from _loaded_attributes(child, noted=noted or _notes(child))


def _reads(
    name: str, node: ast.AST, line: int, *, noted: bool, apart: frozenset[int] | set[int] = frozenset()
) -> Iterator[tuple[int, bool]]:
    """Where a variable is read, but for a line and for the nodes in `apart` (by id)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS) and _has_its_own(child, name):
            continue
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
            if child.lineno != line and id(child) not in apart:
                yield child.lineno, noted
        else:
            yield from _reads(name, child, line, noted=noted or _notes(child), apart=apart)


def _has_its_own(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a variable of that name inside a function is another one."""
    own = False
    for each in ast.walk(function):
        match each:
            case ast.Global(names=shared) | ast.Nonlocal(names=shared) if name in shared:
                return False
            case ast.Name(id=bound, ctx=ast.Store()) | ast.arg(arg=bound) if bound == name:
                own = True
    return own


def _notes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called)):
            return does(called, "converts") or does(called, "tells")
        case ast.Attribute(attr=read):
            return operation(read).graph == "drops"
        case ast.FormattedValue():
            return True
    return False


@lru_cache(maxsize=256)
def _scope(file: str, function: str, line: int) -> ast.AST | None:
    tree = tree_as_run(file)
    if tree is None:
        return None
    if function == "<module>":
        return tree
    nodes = [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) and each.name == function]
    around = [each for each in nodes if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return max(around, key=lambda each: each.lineno, default=None)
