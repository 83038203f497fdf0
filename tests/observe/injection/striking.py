"""Loads gradsan with a fault in every function: it raises when its turn has come, within the function's own code.

Where all that a function does is inside of a `try`, so is the fault: what stands before cannot fail.
"""

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

# What runs in the program's process.
PACKAGES = ("gradsan.observe", "gradsan.explanation", "gradsan.entry", "gradsan.cli.watching")

KINDS: dict[str, type[BaseException]] = {
    each.__name__: each for each in (RuntimeError, MemoryError, KeyboardInterrupt, RecursionError, OSError, SystemExit)
}

_RAISED = "if __is_due__({0!r}): raise __fault__({0!r})"
_CALLED = "__struck__({0!r})"

GUARDS = ("attempt", "started_anyway")
# They stand in the place of a function of the program's or of a library's, and do nothing before they call that.
PASS_ON = frozenset(
    {"exec_module", "get_code", "read_marked", "hook", "runs", "shows", "stand_in", "read", "look_up_and_prepare"}
)

calls: Counter[str] = Counter()  # of each function
_target: tuple[str, int, str] | None = None  # function, which of its calls, and what it raises


def strike(function: str, nth: int, kind: str) -> None:
    """Let a function fail from now on, at the n-th of its calls from now."""
    global _target  # noqa: PLW0603 # one in a process
    calls.clear()
    _target = (function, nth, kind)


def _is_due(function: str) -> bool:
    calls[function] += 1
    return _target is not None and function == _target[0] and calls[function] == _target[1]


def _fault(function: str) -> BaseException:
    return KINDS[_target[2] if _target else "RuntimeError"](f"injected into {function}")


def _struck(function: str) -> None:
    """For what is an expression only; and so that the fault comes from another's code, as it may."""
    if _is_due(function):
        raise _fault(function)


class _Faults(ast.NodeTransformer):
    """Puts a fault into every function."""

    def __init__(self, module: str) -> None:
        self._names = [module]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Its methods bear its name."""
        return self._within(node, node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The first that it does is to fail."""
        self._within(node, node.name)
        if node.name in PASS_ON or _is_guard(node):
            return node
        name = ".".join((*self._names, node.name))
        block = _guarded_block(node.body) or node.body
        place = 1 if block is node.body and ast.get_docstring(node) is not None else 0
        place += sum(isinstance(each, ast.Global | ast.Nonlocal) for each in block)
        is_hidden = any(ast.unparse(each) == "hidden" for each in node.decorator_list)  # it leaves no trace of a fault
        fault = ast.parse(_CALLED.format(name) if is_hidden else _RAISED.format(name)).body[0]
        block.insert(place, ast.copy_location(fault, node.body[0]))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """The same, in an expression."""
        self.generic_visit(node)
        name = ".".join((*self._names, f"<lambda {node.lineno}>"))
        struck = ast.parse(f"(__struck__({name!r}), None)[1]", mode="eval").body
        assert isinstance(struck, ast.Subscript)
        assert isinstance(struck.value, ast.Tuple)
        struck.value.elts[1] = node.body
        node.body = ast.copy_location(struck, node.body)
        return node

    def _within(self, node: ast.AST, name: str) -> ast.AST:
        self._names.append(name)
        self.generic_visit(node)
        self._names.pop()
        return node


def _is_guard(node: ast.FunctionDef) -> bool:
    """Whether all that a function does is to hand on to a guard."""
    match node.body:
        case [ast.Return(value=ast.Call(func=called)) | ast.Expr(value=ast.Call(func=called))]:
            return isinstance(called, ast.Name | ast.Attribute) and ast.unparse(called).endswith(GUARDS)
    return False


def _guarded_block(body: list[ast.stmt]) -> list[ast.stmt] | None:
    """The body of the `try` that all else of a function is in, but for names, constants and early returns."""
    for statement in body:
        match statement:
            case ast.Try(handlers=[*_, ast.ExceptHandler(type=ast.Name(id="BaseException"))]):
                return statement.body
            case ast.If(body=[ast.Return()], orelse=[]) | ast.Assign() | ast.Expr(value=ast.Constant()):
                continue
            case ast.If(body=inner, orelse=[]):
                return _guarded_block(inner)
        return None
    return None


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compiled from source, each time."""
        path = self.get_filename(fullname)
        tree = _Faults(fullname).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As every other module is found, but for its loader."""
        if not fullname.startswith(PACKAGES):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def load() -> None:
    """From now on, gradsan is loaded with its faults."""
    for each in (_is_due, _fault, _struck):  # nobody's: lines of theirs that are recorded would call them again
        each.__code__ = each.__code__.replace(co_filename="<frozen striking>")
    names: Any = builtins
    names.__is_due__, names.__fault__, names.__struck__ = _is_due, _fault, _struck
    sys.meta_path.insert(0, _Finder())
