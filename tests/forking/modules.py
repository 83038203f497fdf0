"""Modules that a fork server has imported, out of sight until the program imports them."""

import atexit
import ctypes
import gc
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1; older ones answer with an error, and nothing is lost
_CLEARED_LAST = ("sys", "builtins", "__main__")  # by the interpreter, whatever else there is


class Shelf:
    """Finds modules that were imported before: a program sees `import torch` happen, and it takes no time.

    All that a library has imported of itself comes with its first module, as if the program had used it already.
    """

    def __init__(self, before: "Moment") -> None:
        self._modules = {
            name: module
            for name, module in sys.modules.items()
            if name not in before.modules and not _is_of_python(name)
        }
        self._all = {name: module for name, module in sys.modules.items() if name not in _CLEARED_LAST}
        self._filters = [each for each in warnings.filters if each not in before.filters]

    def keep_to_the_end(self) -> None:
        """Leave them to the operating system when a program ends: tearing them down takes longer than most programs.

        Nor does the collector look through them: what it looks at in a copy has to be copied. And what torch registers
        when it is imported need not be taken back, which takes longer still.
        """
        for each in list(weakref.finalize._registry):  # type: ignore[attr-defined]  # noqa: SLF001 # there is no other list
            each.atexit = False
        gc.collect()
        gc.freeze()
        _join_pages()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._all))
        atexit.register(self._leave)
        library = ctypes.CDLL(None)
        library.on_exit(library._exit, None)  # noqa: SLF001 # called first of all that C++ has to do, with the status

    def _leave(self) -> None:
        for name, module in self._all.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]

    def put_away(self) -> None:
        """Have programs find them only where they look for them; the server has no use for them either."""
        for name in self._modules:
            sys.modules.pop(name, None)
        warnings.filters[:] = [each for each in warnings.filters if each not in self._filters]  # type: ignore[index]
        sys.meta_path.insert(0, self)  # of a finder's methods, it has those that are called

    def find_spec(self, name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Where the module was found when it was imported; None if the program would now find another."""
        module = self._modules.get(name)
        found = None if module is None else module.__spec__
        if module is None or found is None or (path is None and not _is_found_again(found)):
            return None
        spec = ModuleSpec(name, _Loader(module, self._take), origin=found.origin)  # type: ignore[arg-type] # likewise
        spec.submodule_search_locations = found.submodule_search_locations
        spec.cached, spec.has_location = found.cached, found.has_location
        return spec

    def _take(self, name: str) -> None:
        """The rest of the library."""
        library = name.partition(".")[0]
        taken = [each for each in self._modules if each == library or each.startswith(library + ".")]
        for each in taken:
            sys.modules.setdefault(each, self._modules.pop(each))
        if library == "torch":
            warnings.filters[:0] = self._filters  # type: ignore[index] # a list, whatever it is declared as
            warnings._filters_mutated()  # type: ignore[attr-defined]  # noqa: SLF001 # as `filterwarnings` does


class Moment:
    """What the interpreter had before the server imported anything."""

    def __init__(self) -> None:
        self.modules = frozenset(sys.modules)
        self.filters = list(warnings.filters)


class _Loader:
    def __init__(self, module: ModuleType, take: Callable[[str], None]) -> None:
        self._module = module
        self._spec = module.__spec__
        self._take = take

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        self._take(module.__name__)


def _join_pages() -> None:
    """Have what was allocated lie in large pages, where the system can: a copy of the process copies their list."""
    library = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines():
        place, rights, *_, inode = line.split()[:5]
        first, last = (int(each, 16) for each in place.split("-"))
        if rights == "rw-p" and inode == "0":
            library.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _COLLAPSE)


def _is_found_again(spec: ModuleSpec) -> bool:
    again = PathFinder.find_spec(spec.name)
    return again is not None and again.origin == spec.origin


def _is_of_python(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names or name.startswith("forking")
