"""Waits for a library to be imported by the program, and imports nothing itself."""

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_IMPORTLIB = "<frozen importlib._bootstrap_external>"


def is_loaded(name: str) -> bool:
    """Whether a library has been imported to its end."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def is_installed(name: str) -> bool:
    """Whether a library could be imported."""
    if sys.modules.get(name) is not None:
        return True
    spec = find_spec(name)
    return spec is not None and spec.origin is not None  # a mere folder of that name has no origin


def when_loaded(name: str, then: Callable[[], None]) -> Callable[[], None]:
    """Call `then` as soon as a library is loaded; what is returned calls that off. `then` must not raise."""
    finder = _Finder(name, then)
    sys.meta_path.insert(0, finder)
    return finder.leave


def unseen(function: Callable[P, T]) -> Callable[P, T]:
    """A step of an import, which shows in no traceback: Python leaves out importlib's frames, told by their file."""
    function.__code__ = function.__code__.replace(co_filename=_IMPORTLIB)
    return function


class _Finder:
    """Stands first among the finders, finds nothing itself, and leaves when the library has come."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then: Callable[[], None] | None = then
        self._asking = threading.local()  # other finders ask all finders too, this one included

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find, in their order."""
        if name != self._name or getattr(self._asking, "now", False):
            return None
        self._asking.now = True
        try:
            for finder in sys.meta_path:
                look = getattr(finder, "find_spec", None)
                spec: ModuleSpec | None = None if finder is self or look is None else look(name, path, target)
                if spec is not None:
                    self._follow(spec)
                    return spec
        finally:
            self._asking.now = False
        return None

    def leave(self) -> None:
        """Wait no longer."""
        self._then = None
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _follow(self, spec: ModuleSpec) -> None:
        """Hear of it when the loader has done its work; the loader itself is as it was by then."""
        loader: Any = spec.loader
        if not hasattr(loader, "exec_module") or not hasattr(loader, "__dict__"):
            return

        @unseen
        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            loader.exec_module(module)
            then = self._then
            self.leave()
            if then is not None:
                then()

        vars(loader)["exec_module"] = exec_module
