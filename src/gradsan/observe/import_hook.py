"""Waits for a library to be imported by the program, and imports nothing itself."""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.hidden_frames import hidden


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
    """Call `then` as soon as a library is loaded; what is returned calls that off."""
    is_waiting = True

    def loaded(_: ModuleType) -> None:
        nonlocal is_waiting
        was_waiting, is_waiting = is_waiting, False
        finder.leave()
        if was_waiting:
            then()

    def wait_no_longer() -> None:
        nonlocal is_waiting
        is_waiting = False
        finder.leave()

    finder = Finder(lambda asked: asked == name, lambda _, spec: after_loading(spec, loaded))
    finder.come()
    return wait_no_longer


class Finder:
    """Stands first among the finders, finds nothing itself, and hands `found` what the others find.

    `found` is ours: what goes wrong in it costs the program nothing. What goes wrong in the others is the program's.
    """

    def __init__(self, wants: Callable[[str], bool], found: Callable[[str, ModuleSpec], None]) -> None:
        asking = threading.local()  # for what: other finders ask all finders too, this one included

        @hidden
        def find_spec(
            name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
        ) -> ModuleSpec | None:
            """What the finders behind this one find, in their order; those before it have been asked."""
            try:
                asked: set[str] = vars(asking).setdefault("asked", set())
                is_wanted = name not in asked and wants(name)
            except BaseException as error:
                if not is_ours(error):
                    raise
                _overlooked(error)
                return None
            if not is_wanted:
                return None
            asked.add(name)
            try:
                place = next((place for place, each in enumerate(sys.meta_path) if each is self), 0)
                for finder in sys.meta_path[place + 1 :]:
                    find = getattr(finder, "find_spec", None)
                    spec: ModuleSpec | None = None if find is None else find(name, path, target)
                    if spec is not None:
                        attempt(partial(found, name, spec), _overlooked)
                        return spec
            finally:
                asked.discard(name)
            return None

        self.find_spec = find_spec  # of the object, and not of its class: guarded whatever becomes of the class

    def come(self) -> None:
        """Stand there."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def leave(self) -> None:
        """Stand there no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def after_loading(spec: ModuleSpec, then: Callable[[ModuleType], None]) -> None:
    """Call `then` when the loader has done its work; the loader itself is as it was by then."""
    loader: Any = spec.loader
    if not hasattr(loader, "exec_module") or not hasattr(loader, "__dict__"):
        return

    @hidden
    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        loader.exec_module(module)
        attempt(lambda: then(module), _overlooked)

    vars(loader)["exec_module"] = exec_module


def _overlooked(error: BaseException) -> None:
    say(f"a module is not recorded: {shown(error)}")
