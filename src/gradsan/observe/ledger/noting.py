"""What a function does with a variable: whether it only notes its value, or does something with it."""

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gradsan.observe.log.loops import Loop

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOTING = frozenset({"item", "detach", "tolist", "numpy", "data", "cpu", "float", "print", "str", "format", "round"})


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

    def is_used_in(self, loop: Loop) -> bool:
        """Whether something is done with it inside a loop."""
        return any(not noted and loop.holds(line) for line, noted in self.read)


def uses_of(name: str, file: str, function: str, line: int) -> Uses:
    """Everything that the function around a line does with a variable, but for that line itself."""
    scope = _scope(file, function.rpartition(".")[2], line)
    if scope is None:
        return Uses(((0, False),))  # not known: as if it were used
    return Uses(tuple(_reads(name, scope, line, noted=False)))


def _reads(name: str, node: ast.AST, line: int, *, noted: bool) -> Iterator[tuple[int, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
            if child.lineno != line:
                yield child.lineno, noted
        else:
            yield from _reads(name, child, line, noted=noted or _notes(child))


def _notes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called)) | ast.Attribute(attr=called):
            return called in _NOTING
        case ast.FormattedValue():
            return True
    return False


@lru_cache(maxsize=256)
def _scope(file: str, function: str, line: int) -> ast.AST | None:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if function == "<module>":
        return tree
    nodes = [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) and each.name == function]
    around = [each for each in nodes if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return max(around, key=lambda each: each.lineno, default=None)
