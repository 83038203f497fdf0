"""Test files, which pytest compiles by itself so that `assert` tells more: on 3.11 they pass by every import hook.

Their functions are marked when pytest has executed such a file, before it runs any of them.
"""

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from gradsan.observe.guarding import attempt, say, shown
from gradsan.observe.hidden_frames import hidden
from gradsan.observe.import_hook import is_loaded, when_loaded

_REWRITER = "_pytest.assertion.rewrite"
_LOADER = "AssertionRewritingHook"


def after_test_files(then: Callable[[list[FunctionType]], None]) -> Callable[[], None]:
    """Call `then` with the functions of every file that pytest executes from now on; the answer calls that off."""
    loader: Any = None
    original: Any = None

    def begin() -> None:
        nonlocal loader, original
        loader = getattr(sys.modules.get(_REWRITER), _LOADER, None)
        original = None if loader is None else vars(loader).get("exec_module")
        if original is not None:
            loader.exec_module = exec_module

    @hidden
    def exec_module(self: object, module: ModuleType) -> None:
        original(self, module)
        attempt(lambda: then(functions_of(module)), _overlooked)

    def end() -> None:
        wait_no_longer()
        if original is not None and vars(loader).get("exec_module") is exec_module:
            loader.exec_module = original

    if is_loaded(_REWRITER):
        begin()
        wait_no_longer: Callable[[], None] = _nothing
    else:
        wait_no_longer = when_loaded(_REWRITER, begin)
    return end


def functions_of(module: ModuleType) -> list[FunctionType]:
    """The functions that a module defines, in classes and behind decorators too."""
    found: dict[int, FunctionType] = {}
    waiting: list[Any] = list(vars(module).values())
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        kind = type(each)
        if kind is FunctionType:
            if each.__globals__ is vars(module):
                found[id(each)] = each
            waiting += [vars(each).get("__wrapped__"), *(_content(cell) for cell in each.__closure__ or ())]
        elif kind in (staticmethod, classmethod):
            waiting.append(each.__func__)
        elif kind is property:
            waiting += [each.fget, each.fset]
        elif type in type(each).__mro__ and each.__module__ == module.__name__:
            waiting += type.__dict__["__dict__"].__get__(each).values()
    return list(found.values())


def _content(cell: Any) -> object:  # noqa: ANN401 # a cell of a closure
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _overlooked(error: BaseException) -> None:
    say(f"a test file is not recorded: {shown(error)}")


def _nothing() -> None:
    pass
