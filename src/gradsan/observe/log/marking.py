"""Records on Python 3.11, which has no `sys.monitoring`: the user's code is marked when it is imported or compiled.

Marked code lives in memory alone. The loader reads and writes its `.pyc` as ever; only what it then hands over
to be executed is replaced. Functions that exist when recording begins get marked code too, and all get their own
back when it ends. What is running at either moment runs on as it was.
"""

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.hidden_frames import hidden
from gradsan.observe.import_hook import Finder, after_loading
from gradsan.observe.living import instances
from gradsan.observe.log import marks
from gradsan.observe.log.marked_code import rewritten
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.tests_loaded import after_test_files
from gradsan.observe.ownership import Ownership
from gradsan.observe.private import BYTECODE_MODULE, BYTECODE_READER, BYTECODE_USER
from gradsan.observe.unasked import attributes_of, is_one

# Modules that use one of these stay as they are: it compiles functions from their bytecode, and knows no marks.
_BYTECODE_COMPILERS = frozenset({"numba"})

_DEBUGGED = "lines are not recorded: a debugger traces this program"


class Marking:
    """Switched on by `start()`; `stop()` puts everything back."""

    def __init__(self, pen: Pen, ownership: Ownership) -> None:
        self._pen = pen
        self._ownership = ownership
        self._finder = Finder(lambda _: True, self._found)
        self._plain: dict[int, CodeType] = {}  # by id of the marked code
        self._marked: dict[int, CodeType] = {}  # by id of the plain code
        self._leave_runpy: Callable[[], None] = lambda: None
        self._readers: dict[object, object] = {}  # what reads bytecode in place of what
        self._leave_pytest: Callable[[], None] = lambda: None

    def prepare(self) -> str | None:
        """Mark what is imported from now on. Where nothing writes, a mark does nothing."""
        if _is_debugged():
            return _DEBUGGED
        if self._finder not in sys.meta_path:
            self._finder.come()
            self._leave_pytest = after_test_files(self._adopt)
            self._mark_files_run()
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
            self._finder.leave()
            self._leave_pytest()
            self._leave_runpy()
        marks.disconnect()
        for function in _functions():
            plain = self._plain.get(id(function.__code__))
            if plain is not None:
                function.__code__ = plain
        for code in list(self._marked.values()):
            marks.silence(code)
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
        except BaseException as error:
            if not is_ours(error):
                raise
            self._pen.fail(error)
            return code

    def _mark_files_run(self) -> None:
        """Files that are run rather than imported, such as the main script in a child process that starts again."""
        import runpy

        place: Any = runpy
        read_file = place._get_code_from_file  # noqa: SLF001 # the one place that all of them come by

        def read_marked(*args: str) -> tuple[CodeType, str]:
            code, name = read_file(*args)
            return attempt(lambda: self._marked_if_owned(code), self._pen.fail) or code, name

        def leave() -> None:
            if place._get_code_from_file is read_marked:  # noqa: SLF001 # as above
                place._get_code_from_file = read_file  # noqa: SLF001 # as above

        place._get_code_from_file = read_marked  # noqa: SLF001 # as above
        self._leave_runpy = leave

    def _marked_if_owned(self, code: CodeType) -> CodeType:
        return self.marked(code) if self._ownership.owns(code.co_filename) else code

    def _found(self, name: str, spec: ModuleSpec) -> None:
        """A module is about to be imported."""
        if name == BYTECODE_MODULE:
            after_loading(spec, self.shield)
        elif self.wants(spec):
            _instead_of_code(spec, self.marked)

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


def _instead_of_code(spec: ModuleSpec, change: Callable[[CodeType], CodeType]) -> None:
    """Change the code that the loader hands out once; after that the loader is as it was."""
    loader = spec.loader
    if not isinstance(loader, SourceFileLoader | SourcelessFileLoader):
        return

    @hidden
    def get_code(name: str) -> CodeType | None:
        vars(loader).pop("get_code", None)
        code = loader.get_code(name)
        return None if code is None else attempt(lambda: change(code), _unmarked) or code

    vars(loader)["get_code"] = get_code


def _unmarked(error: BaseException) -> None:
    say(f"a module is not recorded: {shown(error)}")


def _functions() -> list[FunctionType]:
    # The interpreter runs modules and class bodies as functions too; those run once, and are running.
    return [each for each in instances(FunctionType) if each.__code__.co_flags & CO_OPTIMIZED]


def _is_debugged() -> bool:
    return isinstance(sys.gettrace(), FunctionType | MethodType)


def _is_compiler(value: object) -> bool:
    return is_one(value, ModuleType) and (attributes_of(value) or {}).get("__name__") in _BYTECODE_COMPILERS
