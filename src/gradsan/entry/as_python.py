"""Runs a program in this process so that it cannot notice the difference from `python SCRIPT` or `python -m MODULE`.

Everything here follows what CPython's own start-up does (`Modules/main.c`, `Python/pythonrun.c`). An uncaught
exception is neither printed nor turned into a status here: it goes on to the interpreter, which knows best how to end
a process (tracebacks, `sys.last_value`, death by SIGINT), and is only relieved of gradsan's own frames as it goes by.
"""

import ast
import builtins
import contextlib
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import Any, NoReturn, cast

from gradsan.entry.uncaught import excepthook_without_ours, without_ours
from gradsan.errors import GradsanError
from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.hidden_frames import hidden
from gradsan.source.disk import NOTEBOOK

Prepare = Callable[[CodeType], CodeType]  # from the code of the main file to what is run in its place

_NOTHING = contextlib.nullcontext()

has_begun = False  # whether anything of the program has run; until then, it can still be started without us


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

    @hidden
    def run(self, main: ModuleType, prepare: Prepare) -> None:
        """Run the file as the module `main`."""
        global has_begun  # noqa: PLW0603 -- one program in a process
        file = absolute(self.path)
        sourceless = SourcelessFileLoader("__main__", file) if file.endswith(".pyc") else None
        vars(main)["__loader__"] = sourceless or SourceFileLoader("__main__", file)
        vars(main).update(__file__=file, __cached__=None)
        code = compiled(self.content, file) if sourceless is None else sourceless.get_code("__main__")
        to_run = prepared(cast("CodeType", code), prepare)
        has_begun = True
        try:
            exec(to_run, vars(main))  # noqa: S102 -- this is what running means
        finally:
            attempt(flush, unwatched)

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
        return absolute(self.path)

    @hidden
    def run(self, main: ModuleType, prepare: Prepare) -> None:  # noqa: ARG002 -- runpy finds `main`
        """Run its `__main__.py`."""
        _run_module("__main__", False, prepare)  # noqa: FBT003 -- runpy's signature

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

    @hidden
    def run(self, main: ModuleType, prepare: Prepare) -> None:  # noqa: ARG002 -- runpy finds `main`
        """Import the packages above the module, and run it."""
        _run_module(self.name, True, prepare)  # noqa: FBT003 -- runpy's signature

    def forget(self, main: ModuleType) -> None:
        """A module keeps its names to the end."""


Program = Script | Archive | Module


def find_script(path: str, arguments: tuple[str, ...] = ()) -> Script | Archive:
    """The program at `path`; whatever the import system can look into is an archive, all else is read as a script."""
    if pkgutil.get_importer(absolute(path)) is not None:
        return Archive(path, arguments)
    kind = Script
    if path.endswith(NOTEBOOK):
        from gradsan.entry.running_notebook import Notebook

        kind = Notebook
    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- a path that ends in a slash must not lose it
            return kind(path, file.read(), arguments)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProgramMissingError(f"cannot read the program {path!r} ({reason})", "give the path of a script") from None


@hidden
def run_program(
    program: Program,
    *,
    prepare: Prepare = lambda code: code,
    around: AbstractContextManager[object] = _NOTHING,
) -> None:
    """Run `program` to its end as `__main__` of this process, which it may then leave to end.

    `prepare` makes what is run of the code of the main file. `around` is entered before the first line of the program
    and left after its last; its `__exit__` is given the exception that ended the program (also a SystemExit) with the
    program's frames only, before it is printed: a note added there is shown. Neither can keep the program from running.
    What goes wrong before the program has begun is raised: then it can be started without us (`started_anyway`).
    """
    main = _fresh_main()
    sys.argv[:] = program.argv
    _put_first(program)
    attempt(around.__enter__, unwatched)
    try:
        program.run(main, prepare)
    except BaseException as error:
        if not has_begun:
            raise
        attempt(partial(_leave, around, error), unwatched)
        if not isinstance(error, SystemExit):
            attempt(partial(_hand_over, error, partial(program.forget, main)), unwatched)
        raise
    attempt(partial(_leave, around, None), unwatched)
    attempt(partial(program.forget, main), unwatched)


def _leave(around: AbstractContextManager[object], error: BaseException | None) -> None:
    """The program has ended."""
    if error is None:
        around.__exit__(None, None, None)
    else:
        error.__traceback__ = without_ours(error.__traceback__)
        around.__exit__(type(error), error, error.__traceback__)


def interpreter_options() -> list[str]:
    """What stands between `python` and gradsan on the command line that runs this."""
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    return before[:-2] if before[-2:-1] == ["-m"] else before[:-1]


def _hand_over(error: BaseException, forget: Callable[[], None]) -> None:
    """Have the interpreter show the program's frames only."""
    sys.excepthook = excepthook_without_ours(error, forget)


def unwatched(error: BaseException) -> None:
    """Say that what we do around a program has failed."""
    say(f"the program is not watched to its end: {shown(error)}")


@hidden
def started_anyway(start: Callable[[], None], command: Sequence[str]) -> None:
    """Start a program, by `command` as Python alone would start it if an error of ours comes before its first line."""
    try:
        start()
    except BaseException as error:
        if has_begun or not is_ours(error):
            raise
        start_without_us(command, error)


def start_without_us(command: Sequence[str], error: BaseException) -> NoReturn:
    """Become a Python that runs the program alone."""
    say(f"the program is started without gradsan: {shown(error)}")
    for stream in (sys.stderr, sys.stdout):
        if stream is not None:
            stream.flush()
    os.environ.pop("GRADSAN", None)
    os.execv(sys.executable, [sys.executable, *command])  # noqa: S606 -- the very interpreter that runs this


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


def absolute(path: str) -> str:
    """CPython joins and does not normalise: `./a.py` becomes `/home/./a.py`."""
    return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118 -- pathlib would normalise


def prepared(code: CodeType, prepare: Prepare) -> CodeType:
    """What is run of the program's code; that itself, where it cannot be prepared."""
    try:
        return prepare(code)
    except BaseException as error:
        if not is_ours(error):
            raise
        say(f"lines are not recorded: {shown(error)}")
        return code


def compiled(source: bytes | ast.Module, file: str, flags: int = 0) -> CodeType:
    """The code of a script; Python shows no frames above a script that does not compile, so none are left here."""
    global has_begun  # noqa: PLW0603 -- as above
    try:
        return cast("CodeType", compile(source, file, "exec", flags, dont_inherit=True))
    except SyntaxError as error:
        has_begun = True  # as far as it ever will: this is the program's own
        error.__traceback__ = None
        raise


def flush() -> None:
    """CPython flushes here, so that what a script printed stands before its traceback."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(Exception):
            stream.flush()


# The private entry that `python -m` itself calls (since 2.5). The public `run_module` cannot run as the real
# `__main__`, and its tracebacks differ.
run_module_as_main: Callable[[str, bool], object] = runpy._run_module_as_main  # type: ignore[attr-defined]  # noqa: SLF001


@hidden
def _run_module(name: str, alter_argv: bool, prepare: Prepare) -> None:  # noqa: FBT001 -- runpy's signature
    """Have runpy run a module; of the first that it looks up, and of that one only, run what `prepare` makes."""
    global has_begun  # noqa: PLW0603 -- as above
    place: Any = runpy  # of whose names the one below is private
    look_up: Callable[..., tuple[str, ModuleSpec, CodeType]] = place._get_module_details  # noqa: SLF001 -- as below

    def look_up_and_prepare(*arguments: object) -> tuple[str, ModuleSpec, CodeType]:
        place._get_module_details = look_up  # noqa: SLF001 -- first: it calls itself for packages, whose code is the user's
        name, spec, code = look_up(*arguments)
        return name, spec, prepared(code, prepare)

    place._get_module_details = look_up_and_prepare  # noqa: SLF001 -- as below
    has_begun = True
    try:
        run_module_as_main(name, alter_argv)
    finally:
        place._get_module_details = look_up  # noqa: SLF001 -- as below
