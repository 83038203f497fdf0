"""Records on Python 3.11, which has no `sys.monitoring`: the user's code is marked when it is imported or compiled.

Marked code lives in memory alone. The loader reads and writes its `.pyc` as ever; only what it then hands over
to be executed is replaced. Functions that exist when recording begins get marked code too, and all get their own
back when it ends. What is running at either moment runs on as it was.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradsan.observe.arrival import unseen
from gradsan.observe.living import instances
from gradsan.observe.log import marks
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.rewriting import rewritten
from gradsan.observe.log.tests_loaded import after_test_files
from gradsan.observe.ownership import Ownership
from gradsan.observe.private import BYTECODE_MODULE, BYTECODE_READER, BYTECODE_USER

# Modules that use one of these stay as they are: it compiles functions from their bytecode, and knows no marks.
_BYTECODE_COMPILERS = frozenset({"numba"})

_DEBUGGED = "lines are not recorded: a debugger traces this program"


class Marking:
    """Switched on by `start()`; `stop()` puts everything back."""

    def __init__(self, pen: Pen, ownership: Ownership) -> None:
        self._pen = pen
        self._ownership = ownership
        self._finder = _Finder(self)
        self._plain: dict[int, CodeType] = {}  # by id of the marked code
        self._marked: dict[int, CodeType] = {}  # by id of the plain code
        self._read_file: Callable[..., tuple[CodeType, str]]
        self._readers: dict[object, object] = {}  # what reads bytecode in place of what
        self._leave_pytest: Callable[[], None] = lambda: None

    def prepare(self) -> str | None:
        """Mark what is imported from now on. Where nothing writes, a mark does nothing."""
        if _is_debugged():
            return _DEBUGGED
        if self._finder not in sys.meta_path:
            sys.meta_path.insert(0, self._finder)
            self._leave_pytest = after_test_files(self._adopt)
            self._read_file = _of_runpy("_get_code_from_file")
            _set_of_runpy("_get_code_from_file", self._file_marked)
        return None

    def start(self) -> str | None:
        """Begin; answers with a sentence if a debugger is at work, which would step into every mark."""
        declined = self.prepare()
        if declined is not None:
            return declined
        marks.connect(self._pen)
        for name in (BYTECODE_MODULE, BYTECODE_USER):
            module = sys.modules.get(name)
            if module is not None:
                self.shield(module)
        self.adopt()
        return None

    def stop(self) -> None:
        """End, also from within a mark."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
            self._leave_pytest()
            if _of_runpy("_get_code_from_file") == self._file_marked:
                _set_of_runpy("_get_code_from_file", self._read_file)
        marks.disconnect()
        for function in _functions():
            plain = self._plain.get(id(function.__code__))
            if plain is not None:
                function.__code__ = plain
        for name in (BYTECODE_MODULE, BYTECODE_USER):
            module = sys.modules.get(name)
            reader = getattr(module, BYTECODE_READER, None)
            if reader in self._readers:
                setattr(module, BYTECODE_READER, self._readers[reader])
        self._readers.clear()

    def adopt(self) -> None:
        """Mark the user's functions that exist and are not marked yet; calls that are running go on unmarked."""
        self._adopt(_functions())

    def _adopt(self, functions: list[FunctionType]) -> None:
        for function in functions:
            code = function.__code__
            if (
                id(code) not in self._plain
                and self._ownership.owns(code.co_filename)
                and not any(_is_compiler(value) for value in function.__globals__.values())
            ):
                function.__code__ = self.marked(code)

    def marked(self, code: CodeType) -> CodeType:
        """The code with marks; the code itself where an error of our own prevents it."""
        known = self._marked.get(id(code))
        if known is not None:
            return known
        if code.co_name == "<module>" and not _BYTECODE_COMPILERS.isdisjoint(code.co_names):
            return code
        try:
            return rewritten(code, self._pen.sites, self._note)
        except Exception as error:  # noqa: BLE001 # the program must be able to go on
            self._pen.fail(error)
            return code

    def _file_marked(self, *args: str) -> tuple[CodeType, str]:
        """A file that is run rather than imported, such as the main script in a child process that starts anew."""
        code, name = self._read_file(*args)
        return self.marked(code) if self._ownership.owns(code.co_filename) else code, name

    def wants(self, spec: ModuleSpec) -> bool:
        """Whether a module that is about to be imported is the user's, and loaded in a way that can be marked."""
        loader = isinstance(spec.loader, SourceFileLoader | SourcelessFileLoader)
        return loader and spec.origin is not None and self._ownership.owns(spec.origin)

    def shield(self, module: ModuleType) -> None:
        """Let `torch.compile` read plain code: marks would break its graphs."""
        original = getattr(module, BYTECODE_READER, None)
        if original in self._readers:  # imported by name from the module that was shielded before
            return
        if original is None:
            self._pen.fail(
                LookupError(f"{module.__name__} has no {BYTECODE_READER}: it would stumble over marked code")
            )
            return
        plain = self._plain

        def read(code: CodeType, *args: object, **options: object) -> object:
            return original(plain.get(id(code), code), *args, **options)

        setattr(module, BYTECODE_READER, read)
        self._readers[read] = original

    def _note(self, plain: CodeType, marked: CodeType) -> None:
        self._plain[id(marked)] = plain
        self._marked[id(plain)] = marked


class _Finder:
    """Stands first among the finders, finds nothing itself, and arranges for what others find to be marked."""

    def __init__(self, marking: Marking) -> None:
        self._marking = marking

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find, in their order."""
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if name == BYTECODE_MODULE:
                    _after_loading(spec, self._marking.shield)
                elif self._marking.wants(spec):
                    _instead_of_code(spec, self._marking.marked)
                return spec
        return None


def _instead_of_code(spec: ModuleSpec, change: Callable[[CodeType], CodeType]) -> None:
    """Change the code that the loader hands out once; after that the loader is as it was."""
    loader = spec.loader
    if not isinstance(loader, SourceFileLoader | SourcelessFileLoader):
        return

    @unseen
    def get_code(name: str) -> CodeType | None:
        vars(loader).pop("get_code", None)
        code = loader.get_code(name)
        return None if code is None else change(code)

    vars(loader)["get_code"] = get_code


def _after_loading(spec: ModuleSpec, then: Callable[[ModuleType], None]) -> None:
    loader = spec.loader
    if not isinstance(loader, SourceFileLoader):
        return

    @unseen
    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        loader.exec_module(module)
        then(module)

    vars(loader)["exec_module"] = exec_module


def _functions() -> list[FunctionType]:
    # The interpreter runs modules and class bodies as functions too; those run once, and are running.
    return [each for each in instances(FunctionType) if each.__code__.co_flags & CO_OPTIMIZED]


def _of_runpy(name: str) -> Any:  # noqa: ANN401 # whatever stands there
    import runpy

    return getattr(runpy, name)


def _set_of_runpy(name: str, value: object) -> None:
    import runpy

    setattr(runpy, name, value)


def _is_debugged() -> bool:
    return isinstance(sys.gettrace(), FunctionType | MethodType)


def _is_compiler(value: object) -> bool:
    return isinstance(value, ModuleType) and value.__name__ in _BYTECODE_COMPILERS
