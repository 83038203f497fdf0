"""Keeps `torch.compile` from compiling gradsan, which would break graphs in two and cost seconds."""

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import ParamSpec, TypeVar

from gradsan.observe.import_hook import is_loaded, when_loaded
from gradsan.observe.private import FOLDERS_NOT_COMPILED, RULES_MODULE, RULES_READER

P = ParamSpec("P")
T = TypeVar("T")

_OWN_FOLDER = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 # compared with names in code objects


def stay_out() -> Callable[[], None]:
    """From now on, or when the compiler is loaded, frames of gradsan run as they are; what is returned undoes that."""
    if is_loaded(RULES_MODULE):
        _put_in(sys.modules[RULES_MODULE])
        wait_no_longer: Callable[[], None] = _nothing
    else:
        wait_no_longer = when_loaded(RULES_MODULE, lambda: _put_in(sys.modules[RULES_MODULE]))

    def undo() -> None:
        wait_no_longer()
        rules = sys.modules.get(RULES_MODULE)
        folders = getattr(rules, FOLDERS_NOT_COMPILED, [])
        if _OWN_FOLDER in folders:
            folders.remove(_OWN_FOLDER)
            getattr(rules, RULES_READER)()

    return undo


def compiles_to_nothing(function: Callable[P, T]) -> Callable[P, T]:
    """Let the compiler look into one function, which begins with `if torch.compiler.is_compiling(): return`.

    What it may not look into, it leaves the graph for.
    """
    function.__code__ = function.__code__.replace(co_filename="<gradsan>")
    return function


def _put_in(rules: ModuleType) -> None:
    folders, read = getattr(rules, FOLDERS_NOT_COMPILED, None), getattr(rules, RULES_READER, None)
    if isinstance(folders, list) and callable(read) and _OWN_FOLDER not in folders:
        folders.append(_OWN_FOLDER)
        read()


def _nothing() -> None:
    pass
