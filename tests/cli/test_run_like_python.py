"""`gradsan run` is `python`: the same program leaves the same output, traceback and status behind, however started."""

import compileall
import json
import textwrap

import pytest

from cli.conftest import Workshop

pytestmark = pytest.mark.cold  # the real start is what they are about, and few need torch

FACTS = """
import sys
import __main__

print(sys.argv, sys.path[0], len(sys.path), sys.path.count(sys.path[0]))
print(__name__, __file__, __package__, __cached__, __doc__, __annotations__)
print(__spec__ and (__spec__.name, __spec__.origin, __spec__.parent, type(__spec__.loader)))
print(type(__loader__), getattr(__loader__, "name", None), getattr(__loader__, "path", None))
print(__builtins__, list(vars(__main__)), vars(__main__) is globals(), sys.modules["__main__"] is __main__)
print(sys.flags, sys._xoptions, sys.warnoptions, sys.stdout.line_buffering, sys.getrecursionlimit())
print(sys.excepthook is sys.__excepthook__, sys.gettrace(), sys.getprofile())
"""

PROGRAMS = {
    "facts": FACTS,
    "returns": "print('done')",
    "empty": "",
    "exit without a status": "import sys; print('x'); sys.exit()",
    "exit none": "import sys; sys.exit(None)",
    "exit with a number": "import sys; sys.exit(7)",
    "exit with a large number": "import sys; sys.exit(1000)",
    "exit with true": "import sys; sys.exit(True)",
    "exit with text": "import sys; sys.exit('the data is missing')",
    "exit with an object": "raise SystemExit(('a', 1))",
    "exit from the depths": "def a():\n    raise SystemExit(3)\ntry:\n    a()\nfinally:\n    print('finally')",
    "exit at once": "import os; print('x', flush=True); os._exit(5)",
    "abort": "import os; os.abort()",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "interrupted": "import os, signal; print('x'); os.kill(os.getpid(), signal.SIGINT)",
    "raises an interrupt": "print('x')\nraise KeyboardInterrupt",
    "catches an interrupt": """
        import os, signal
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            print("caught")
    """,
    "own signal handler": """
        import os, signal
        signal.signal(signal.SIGINT, lambda number, frame: print("signal", number, frame.f_code.co_name))
        os.kill(os.getpid(), signal.SIGINT)
        print(signal.getsignal(signal.SIGPIPE))
    """,
    "uncaught": """
        def inner(x):
            return 1 / x
        def outer():
            inner(0)
        outer()
    """,
    "uncaught at top level": "1 / 0",
    "chained on purpose": """
        try:
            {}["missing"]
        except KeyError as error:
            raise ValueError("no such setting") from error
    """,
    "chained by accident": """
        try:
            {}["missing"]
        except KeyError:
            1 / 0
    """,
    "exception group": """
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ExceptionGroup("several", [error, ValueError("x")])
    """,
    "exception with a note": "error = ValueError('x')\nerror.add_note('a note')\nraise error",
    "exception without text": "class Odd(Exception):\n    def __str__(self):\n        1 / 0\nraise Odd",
    "exception from an import": "import json.nothing",
    "an error of gradsan's, raised by the program": """
        from gradsan.errors import GradsanError
        raise GradsanError("what", "remedy")
    """,
    "an error that gradsan raised for the program": "from gradsan.causes import cause\ncause('GS9')",
    "deep recursion": """
        import sys
        def down(n):
            1 / n
            down(n - 1)
        down(500)
    """,
    "traceback limit": "import sys\nsys.tracebacklimit = 1\ndef a():\n    1 / 0\na()",
    "exception in a thread": """
        import threading
        thread = threading.Thread(target=lambda: 1 / 0, name="worker")
        thread.start()
        thread.join()
        print("goes on")
    """,
    "own thread hook": """
        import threading
        threading.excepthook = lambda args: print("hook", args.exc_type, args.thread.name)
        thread = threading.Thread(target=lambda: 1 / 0, name="worker")
        thread.start()
    """,
    "thread that outlives the program": """
        import threading, time
        def late():
            time.sleep(0.1)
            print("late", threading.main_thread().is_alive())
        threading.Thread(target=late).start()
        print("main ends")
    """,
    "thread that outlives an error": """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()
        1 / 0
    """,
    "main thread": "import threading; print(threading.current_thread().name, threading.active_count())",
    "atexit": "import atexit\n@atexit.register\ndef bye():\n    print('bye', '__file__' in globals())",
    "atexit after an error": """
        import atexit, sys, traceback
        @atexit.register
        def bye():
            print("bye", "__file__" in globals(), sys.excepthook is sys.__excepthook__, sys.last_type, sys.last_value)
            traceback.print_tb(sys.last_traceback)
            print(sys.last_value.__traceback__ is sys.last_traceback)
        1 / 0
    """,
    "atexit after exit": """
        import atexit, sys
        @atexit.register
        def bye():
            print("bye", "__file__" in globals())
        sys.exit(4)
    """,
    "atexit after an interrupt": "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt",
    "finalizers": """
        class Last:
            def __del__(self):
                print("gone", __name__)
        last = Last()
    """,
    "own hook": """
        import sys, traceback
        def hook(kind, value, tb):
            print("hook", kind, value, __file__, value.__traceback__ is tb, [f.name for f in traceback.extract_tb(tb)])
        sys.excepthook = hook
        def a():
            1 / 0
        a()
    """,
    "own hook that fails": "import sys\ndef hook(*_):\n    int('x')\nsys.excepthook = hook\n1 / 0",
    "own hook that exits": "import sys\nsys.excepthook = lambda *_: sys.exit(9)\n1 / 0",
    "unraisable": "class Odd:\n    def __del__(self):\n        1 / 0\nOdd()",
    "warnings of the main module": """
        import warnings
        def old():
            warnings.warn("old", DeprecationWarning, stacklevel=2)
        old()
        old()
    """,
    "unclosed file": "open(__file__)",
    "pickled class": """
        import pickle
        class Point:
            def __init__(self):
                self.x = 1
        text = pickle.dumps(Point())
        print(text, pickle.loads(text).x, Point.__module__, Point)
    """,
    "dataclass": """
        from __future__ import annotations
        from dataclasses import dataclass, field
        from typing import ClassVar, get_type_hints
        @dataclass(order=True)
        class Setting:
            name: str
            seen: ClassVar[int] = 0
            rates: list[float] = field(default_factory=list)
        print(Setting("a"), get_type_hints(Setting))
    """,
    "enum": """
        import enum, pickle
        class Mode(enum.Enum):
            TRAIN = enum.auto()
        print(repr(Mode.TRAIN), pickle.loads(pickle.dumps(Mode.TRAIN)) is Mode.TRAIN)
    """,
    "source of a function": """
        import inspect
        def f(x):  # a comment
            return x
        print(inspect.getsource(f), inspect.getfile(f), inspect.getmodule(f).__name__)
    """,
    "annotated": "x: int = 1\nprint(__annotations__)",
    "generator left open": "def g():\n    try:\n        yield\n    finally:\n        print('closed')\nx = g()\nnext(x)",
    "reads stdin": "import sys\nprint(input(), sys.stdin.read())",
    "imports its neighbour": "import neighbour\nprint(neighbour.__name__, neighbour.__file__)",
    "imports itself": "import program\nprint(__name__, program.__name__)",
    "fork": """
        import os, sys
        print("before", flush=True)
        child = os.fork()
        if child == 0:
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
    "fork that fails": """
        import os
        child = os.fork()
        if child == 0:
            1 / 0
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
    "asyncio": """
        import asyncio, os, signal
        async def main():
            await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(1)
        asyncio.run(main())
    """,
    "logging": """
        import logging
        logging.warning("careful")
        try:
            1 / 0
        except ZeroDivisionError:
            logging.exception("x")
    """,
    "argparse": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--epochs", type=int, required=True)
        parser.parse_args()
    """,
    "syntax error": "def f(:\n    pass\n",
    "indentation error": "if True:\nprint(1)\n",
    "syntax error in an import": "import broken",
    "invalid escape": "print('\\d')\n",
    "replaces main": "import sys, types\nsys.modules['__main__'] = types.ModuleType('__main__')\nprint(__name__)",
    "another working directory": "import os\nos.chdir('/')\ndef f():\n    1 / 0\nf()",
}

MULTIPROCESSING = """
import multiprocessing
import os
import sys

print("imported as", __name__, os.path.basename(__file__), flush=True)

class Task:
    def __init__(self, number):
        self.number = number

def work(task):
    return task.number * 2, __name__, os.path.basename(sys.argv[0]), sys.argv[1:]

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print(pool.map(work, [Task(1), Task(2)]))
    failing = context.Process(target=work, args=(None,), name="failing")
    failing.start()
    failing.join()
    print(failing.exitcode)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_script_ends_as_under_python(name: str, workshop: Workshop) -> None:
    """Output, traceback and status are the same to the letter."""
    workshop.write("program.py", textwrap.dedent(PROGRAMS[name]))
    workshop.write("neighbour.py", "")
    workshop.write("broken.py", "x = = 1")

    plain, as_module, as_command = workshop.every_start("program.py", "--epochs", stdin="first\nsecond\nthird\n")

    assert plain == as_module == as_command


@pytest.mark.parametrize(
    "name", ["facts", "uncaught", "exit with a number", "interrupted", "pickled class", "own hook"]
)
def test_module_ends_as_under_python(name: str, workshop: Workshop) -> None:
    """`-m` too: Python shows the frames of its own runpy above the module, and so do we."""
    workshop.write("package/__init__.py", "import sys; print('package', sys.argv)")
    workshop.write("package/program.py", textwrap.dedent(PROGRAMS[name]))
    workshop.write("package/__main__.py", textwrap.dedent(PROGRAMS[name]))

    for module in ("package.program", "package", "package.__main__"):
        plain, as_module, as_command = workshop.every_start("-m", module, "-m", "--help")

        assert plain == as_module == as_command


@pytest.mark.parametrize(
    "module", ["nothing", "nothing.at.all", "program.py", "package", "spaces", "failing", "broken", ""]
)
def test_module_that_cannot_run_is_refused_as_python_refuses_it(module: str, workshop: Workshop) -> None:
    """The words are Python's, which users have learnt to look up."""
    workshop.write("program.py", "")
    workshop.write("package/__init__.py", "")
    workshop.write("spaces/deep/program.py", "")
    workshop.write("failing/__init__.py", "import nothing_at_all")
    workshop.write("broken/__main__.py", "x = = 1")

    plain, as_module, as_command = workshop.every_start("-m", module)

    assert plain == as_module == as_command
    assert plain.status == 1


@pytest.mark.parametrize("name", ["facts", "uncaught", "exit with text", "syntax error", "source of a function"])
@pytest.mark.parametrize("path", ["folder", "./folder/", "program.zip"])
def test_folder_and_zip_file_end_as_under_python(name: str, path: str, workshop: Workshop) -> None:
    """Whatever holds a `__main__.py` is a program."""
    source = textwrap.dedent(PROGRAMS[name])
    workshop.write("folder/__main__.py", source)
    workshop.write_zip("program.zip", __main__=source)

    plain, as_module, as_command = workshop.every_start(path, "--help")

    assert plain == as_module == as_command


def test_folder_without_main_is_refused_as_python_refuses_it(workshop: Workshop) -> None:
    """An archive that holds no program."""
    workshop.write("folder/other.py", "")

    plain, as_module, as_command = workshop.every_start("folder")

    assert plain == as_module == as_command


@pytest.mark.parametrize(
    "path", ["program.py", "./program.py", "../programs/program.py", "deep/../program.py", "link.py"]
)
def test_path_of_the_script_is_as_under_python(path: str, workshop: Workshop) -> None:
    """`__file__` is not normalised, and imports look beside the file that a link leads to."""
    workshop.write("program.py", FACTS)
    workshop.write("deep/program.py", FACTS)
    (workshop.folder / "link.py").symlink_to(workshop.folder / "deep" / "program.py")

    plain, as_module, as_command = workshop.every_start(path)

    assert plain == as_module == as_command


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("-q", "-v"), ("--", "-m", "x"), ("-m", "x"), ("--version",), ("", " ", "é", "--output=a")],
)
def test_all_that_follows_the_script_is_the_programs(arguments: tuple[str, ...], workshop: Workshop) -> None:
    """Also what looks like an option of gradsan."""
    workshop.write("program.py", "import sys; print(sys.argv)")

    plain, as_module, as_command = workshop.every_start("program.py", *arguments)

    assert plain == as_module == as_command


FLAGS = [
    *((flags, "facts") for flags in ("-W error", "-X dev", "-O", "-u", "-P", "-X utf8=0", "-B -q")),
    *((flags, name) for flags in ("-W error", "-X dev") for name in ("invalid escape", "unclosed file")),
    ("-W error", "warnings of the main module"),
    ("-W ignore", "warnings of the main module"),
]


@pytest.mark.parametrize(("flags", "name"), FLAGS)
def test_flags_of_the_interpreter_hold(flags: str, name: str, workshop: Workshop) -> None:
    """`python -W error -m gradsan run` warns and fails where `python -W error` does."""
    workshop.write("program.py", textwrap.dedent(PROGRAMS[name]))
    workshop.write("folder/__main__.py", textwrap.dedent(PROGRAMS[name]))

    for program in (("program.py",), ("folder",)):
        plain, as_module, as_command = workshop.every_start(*program, flags=flags.split())

        assert plain == as_module == as_command


@pytest.mark.parametrize(
    ("method", "program"),
    [
        ("spawn", "program.py"),
        ("spawn", "-m program"),
        ("forkserver", "program.py"),
        ("forkserver", "-m program"),
        ("fork", "program.py"),
        ("fork", "-m program"),
        ("fork", "folder"),  # the others fail under Python itself: a fresh child does not import a folder's `__main__`
    ],
)
def test_child_processes_find_the_program(method: str, program: str, workshop: Workshop) -> None:
    """A child that starts again imports the user's main file, never gradsan's."""
    workshop.write("program.py", MULTIPROCESSING)
    workshop.write("folder/__main__.py", MULTIPROCESSING)

    plain, as_module, as_command = workshop.every_start(*program.split(), method)

    assert plain == as_module == as_command
    assert plain.status == 0


def test_workers_of_a_data_loader_find_the_program(workshop: Workshop) -> None:
    """The dataset is a class of the main file, unpickled in a process that starts again."""
    workshop.write(
        "program.py",
        """
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return index

if __name__ == "__main__":
    print([batch.tolist() for batch in DataLoader(Numbers(), 2, num_workers=1, multiprocessing_context="spawn")])
""",
    )

    ended = workshop.gradsan("run", "program.py")

    assert (ended.status, ended.stdout, ended.stderr) == (0, "[[0, 1], [2, 3]]\n", "")


def test_output_stands_before_the_traceback(workshop: Workshop) -> None:
    """A script's output is flushed before its traceback, so that a log of both reads in order."""
    workshop.write("program.py", "print('first')\n1 / 0")

    plain, as_module, as_command = workshop.every_start("program.py", merged=True)

    assert plain == as_module == as_command
    assert plain.stdout.startswith("first\nTraceback")


@pytest.mark.parametrize(
    "source",
    ["# coding: latin-1\nprint(ascii('é'))\n1 / 0".encode("latin-1"), b"\xef\xbb\xbfprint('x')\r\n1 / 0\r\n"],
    ids=["latin-1", "byte order mark"],
)
def test_encoding_of_the_script_is_as_under_python(source: bytes, workshop: Workshop) -> None:
    """The source goes to the compiler as bytes."""
    workshop.write("program.py", source)

    plain, as_module, as_command = workshop.every_start("program.py")

    assert plain == as_module == as_command


def test_compiled_script_runs_as_under_python(workshop: Workshop) -> None:
    """`python program.pyc` is a program too."""
    workshop.write("program.py", FACTS)
    compileall.compile_file(workshop.folder / "program.py", legacy=True, quiet=2)

    plain, as_module, as_command = workshop.every_start("program.pyc")

    assert plain == as_module == as_command
    assert plain.status == 0


def test_a_report_is_written_of_a_script_that_cannot_be_compiled(workshop: Workshop) -> None:
    """No frame of the program holds anything then; CPython once met a `__main__` that was gone."""
    workshop.write("program.py", "def f(:\n    pass\n")

    ended = workshop.start(str(workshop.console_script), "run", "--format", "json", "-o", "report.json", "program.py")

    assert ended.status == 1
    assert json.loads((workshop.folder / "report.json").read_text(encoding="utf-8"))["diagnoses"] == []
