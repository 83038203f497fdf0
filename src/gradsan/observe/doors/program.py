"""Runs a program in this process so that it cannot tell the difference from `python SCRIPT` or `python -m MODULE`.

Everything here follows what CPython's own start-up does (`Modules/main.c`, `Python/pythonrun.c`). An uncaught
exception is neither printed nor turned into a status here: it goes on to the interpreter, which knows best how to end
a process (tracebacks, `sys.last_value`, death by SIGINT), and is only relieved of gradsan's own frames on the way.
"""

import builtins
import contextlib
import os
import pkgutil
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import cast

from gradsan.errors import GradsanError
from gradsan.observe.doors.uncaught import excepthook_without_ours, without_ours

CompileMain = Callable[[bytes, str], CodeType]  # from the source of the main file, and its name

_NOTHING = contextlib.nullcontext()


class ProgramMissingError(GradsanError):
    """A script was given that cannot be read."""


@dataclass(frozen=True, slots=True)
class Script:
    """A file of source (or a `.pyc`), as in `python train.py --epochs 3`."""

    path: str  # as the user wrote it
    content: bytes = field(repr=False)
    arguments: tuple[str, ...] = ()

    @property
    def argv(self) -> list[str]:
        """What the program finds in `sys.argv`."""
        return [self.path, *self.arguments]

    @property
    def path0(self) -> str:
        """Where the program's imports look first: beside the file itself, not beside a link to it."""
        return os.path.dirname(os.path.realpath(self.path))  # noqa: PTH120 -- `sys.path` holds strings

    def run(self, main: ModuleType, compile_main: CompileMain | None) -> None:
        """Run the file as the module `main`."""
        file = _absolute(self.path)
        if file.endswith(".pyc"):
            vars(main)["__loader__"] = loader = SourcelessFileLoader("__main__", file)
            code = cast("CodeType", loader.get_code("__main__"))
        else:
            vars(main)["__loader__"] = SourceFileLoader("__main__", file)
            code = _code(self.content, file, compile_main or _compiled)
        vars(main).update(__file__=file, __cached__=None)
        try:
            exec(code, vars(main))  # noqa: S102 -- this is what running means
        finally:
            _flush()

    def forget(self, main: ModuleType) -> None:
        """CPython takes the names of the file back before the handlers of `atexit` run, but not after `sys.exit`."""
        vars(main).pop("__file__", None)
        vars(main).pop("__cached__", None)


@dataclass(frozen=True, slots=True)
class Archive:
    """A directory or a zip file with a `__main__.py`."""

    path: str
    arguments: tuple[str, ...] = ()

    @property
    def argv(self) -> list[str]:
        """What the program finds in `sys.argv`."""
        return [self.path, *self.arguments]

    @property
    def path0(self) -> str:
        """Where the program's imports look first: inside."""
        return _absolute(self.path)

    def run(self, main: ModuleType, compile_main: CompileMain | None) -> None:  # noqa: ARG002 -- runpy finds `main`
        """Run its `__main__.py`."""
        with _module_compiled_by(compile_main):
            run_module_as_main("__main__", False)  # noqa: FBT003 -- runpy's signature

    def forget(self, main: ModuleType) -> None:
        """A module keeps its names to the end."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module or a package by its name, as in `python -m pkg.train`."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def argv(self) -> list[str]:
        """What `sys.argv` holds while the module is looked for; runpy then puts its file first."""
        return ["-m", *self.arguments]

    @property
    def path0(self) -> str:
        """Where the program's imports look first."""
        return os.getcwd()  # noqa: PTH109 -- `sys.path` holds strings

    def run(self, main: ModuleType, compile_main: CompileMain | None) -> None:  # noqa: ARG002 -- runpy finds `main`
        """Import the packages above the module, and run it."""
        with _module_compiled_by(compile_main):
            run_module_as_main(self.name, True)  # noqa: FBT003 -- runpy's signature

    def forget(self, main: ModuleType) -> None:
        """A module keeps its names to the end."""


Program = Script | Archive | Module


def find_script(path: str, arguments: tuple[str, ...] = ()) -> Script | Archive:
    """The program at `path`; whatever the import system can look into is an archive, all else is read as a script."""
    if pkgutil.get_importer(_absolute(path)) is not None:
        return Archive(path, arguments)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- a path that ends in a slash must not lose it
            return Script(path, file.read(), arguments)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProgramMissingError(f"cannot read the program {path!r} ({reason})", "give the path of a script") from None


def run_program(
    program: Program,
    *,
    compile_main: CompileMain | None = None,
    around: AbstractContextManager[object] = _NOTHING,
) -> None:
    """Run `program` to its end as `__main__` of this process, which it may then leave to end.

    `compile_main` makes the code of the main file in the place of Python's own compiler. `around` is entered before
    the first line of the program and left after its last; its `__exit__` is given the exception that ended the program
    (also a SystemExit) with the program's frames only, before it is printed: a note added there is shown.
    """
    main = _fresh_main()
    sys.argv[:] = program.argv
    _put_first(program)
    try:
        with around:
            try:
                program.run(main, compile_main)
            except BaseException as error:
                error.__traceback__ = without_ours(error.__traceback__)
                raise
    except SystemExit:
        raise
    except BaseException as error:
        sys.excepthook = excepthook_without_ours(error, lambda: program.forget(main))
        raise
    program.forget(main)


# CPython takes names out of the `__main__` that it began with when all is over, and does not hold it until then.
_replaced: list[ModuleType] = []


def _fresh_main() -> ModuleType:
    """A `__main__` as the interpreter makes it; ours is left to the frames that still run in it."""
    _replaced.append(sys.modules["__main__"])
    main = ModuleType("__main__")
    vars(main)["__loader__"] = BuiltinImporter
    if "__annotations__" in vars(sys.modules["__main__"]):  # CPython 3.14 makes it on demand
        vars(main)["__annotations__"] = {}
    vars(main)["__builtins__"] = builtins  # the module in `__main__`, its dict everywhere else
    sys.modules["__main__"] = main
    return main


def _put_first(program: Program) -> None:
    """Put the program's place where the interpreter put ours; `python -P` has none, except for an archive."""
    if not sys.flags.safe_path:
        sys.path[0] = program.path0
    elif isinstance(program, Archive):
        sys.path.insert(0, program.path0)


def _absolute(path: str) -> str:
    """CPython joins and does not normalise: `./a.py` becomes `/home/./a.py`."""
    return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118 -- pathlib would normalise


def _code(source: bytes, file: str, compile_main: CompileMain) -> CodeType:
    """The code of a script; Python shows no frames above a script that does not compile, so none are left here."""
    try:
        return compile_main(source, file)
    except SyntaxError as error:
        error.__traceback__ = None
        raise


def _compiled(source: bytes, file: str) -> CodeType:
    return compile(source, file, "exec", dont_inherit=True)


def _flush() -> None:
    """CPython flushes here, so that what a script printed stands before its traceback."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(Exception):
            stream.flush()


# The private entry that `python -m` itself calls (since 2.5). The public `run_module` cannot run as the real
# `__main__`, and its tracebacks differ.
run_module_as_main: Callable[[str, bool], object] = runpy._run_module_as_main  # type: ignore[attr-defined]  # noqa: SLF001


@contextlib.contextmanager
def _module_compiled_by(compile_main: CompileMain | None) -> Iterator[None]:
    """Let `compile_main` make the code of the next module that runpy looks up, and of that one only."""
    if compile_main is None:
        yield
        return
    look_up: Callable[..., tuple[str, ModuleSpec, CodeType]] = runpy._get_module_details  # type: ignore[attr-defined]  # noqa: SLF001

    def look_up_and_compile(*arguments: object) -> tuple[str, ModuleSpec, CodeType]:
        _replace_look_up(look_up)  # first of all: it calls itself for a package, and imports run the user's code
        name, spec, code = look_up(*arguments)
        source = _source(spec)
        if source is None:
            return name, spec, code
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say about the source was said a moment ago
            return name, spec, compile_main(source, code.co_filename)

    _replace_look_up(look_up_and_compile)
    try:
        yield
    finally:
        _replace_look_up(look_up)


def _replace_look_up(function: Callable[..., object]) -> None:
    runpy._get_module_details = function  # type: ignore[attr-defined]  # noqa: SLF001


def _source(spec: ModuleSpec) -> bytes | None:
    """The source of a module, out of a zip file too; None where it has only compiled code."""
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    read = getattr(spec.loader, "get_data", None)
    source: bytes | None = read(spec.origin) if read else None
    return source
