"""A process of tests that is as small, for whoever looks through it, as that of a small program.

gradsan looks for functions, modules and optimizers among all objects that the garbage collector knows. In a process
that has collected thousands of tests this takes longer than all else that it does. So all is set aside before the first
test, and only what a module of tests brings along is brought back while that module is tested.
"""

import ctypes
import gc
import importlib
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType, ModuleType

import gradsan

_PYTHON = ctypes.pythonapi
_TESTS = str(Path(__file__).parent)
_LARGE = ["torch", "torch._dynamo", "torch.utils.data"]
_functions: defaultdict[str, list[FunctionType]] = defaultdict(list)  # by the file of tests that they are written in


def set_all_aside() -> None:
    """Hide all that there is from the collector's lists."""
    _import_what_is_large()
    gc.collect()
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(_TESTS):
            _functions[each.__code__.co_filename].append(each)
    gc.freeze()


@contextmanager
def program_of(module: ModuleType) -> Iterator[None]:
    """The functions of a module of tests, and of those that it has something from, are all that is found."""
    origins = {module.__name__, *(str(getattr(each, "__module__", None)) for each in vars(module).values())}
    files = {_file(sys.modules.get(each)) for each in origins}
    for file in _functions.keys() & files:
        for each in _functions[file]:
            _track_again(each)
    others = {name: each for name, each in sys.modules.items() if _is_of_tests(each) and _file(each) not in files}
    for name in others:
        del sys.modules[name]
    yield
    sys.modules.update(others)
    gc.collect()
    gc.freeze()


def _is_of_tests(module: ModuleType) -> bool:
    """Whether it is one of their files; packages stay, for whoever imports something out of them."""
    return str(_file(module)).startswith(_TESTS) and not hasattr(module, "__path__")


def _file(module: ModuleType | None) -> str | None:
    return getattr(module, "__file__", None)


def _import_what_is_large() -> None:
    """Tests would do so one by one."""
    with suppress(ImportError):  # a Python without torch
        for name in _LARGE:
            importlib.import_module(name)
        for module in pkgutil.walk_packages(gradsan.__path__, "gradsan."):
            if not module.name.endswith("__main__") and not module.name.startswith("gradsan.plug."):
                importlib.import_module(module.name)


def _track_again(thing: object) -> None:
    """What is tracked is among the youngest: the collector knows no better."""
    _PYTHON.PyObject_GC_UnTrack(ctypes.py_object(thing))
    _PYTHON.PyObject_GC_Track(ctypes.py_object(thing))
