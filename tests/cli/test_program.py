"""The seam through which the observer watches a program: its main code as prepared, and a context around the run."""

import sys

import pytest

from cli.conftest import Ended, Workshop

# Starts a program with both ends of the seam in use, and says what they see.
WATCHED = """
import sys, traceback
from gradsan.entry.as_python import Module, find_script, run_program

class Around:
    def __enter__(self):
        print("enter")
    def __exit__(self, kind, error, tb):
        print("leave", kind and kind.__name__, [entry.name for entry in traceback.extract_tb(tb)])
        if isinstance(error, Exception):
            error.add_note("a note from around")

def prepare(code):
    print("prepare", code.co_filename.rpartition("/")[2])
    source = open(code.co_filename, "rb").read() if ".zip" not in code.co_filename else b"print(__name__)"
    return compile(source + b"\\nprint('instrumented')", code.co_filename, "exec", dont_inherit=True)

kind, name, *arguments = sys.argv[1:]
program = Module(name, tuple(arguments)) if kind == "module" else find_script(name, tuple(arguments))
run_program(program, prepare=prepare, around=Around())
"""


def watched(workshop: Workshop, *program: str) -> Ended:
    """How the program ended with both ends of the seam in use."""
    driver = workshop.console_script.with_name("driver.py")
    driver.write_text(WATCHED, encoding="utf-8")
    return workshop.start(str(driver), *program)


@pytest.mark.parametrize("program", ["script program.py", "script folder", "script program.zip", "module package"])
def test_main_file_is_run_as_prepared_inside_the_context(program: str, workshop: Workshop) -> None:
    """However the program is named; and the context is left without an exception when it ends well."""
    source = "print(__name__)"
    workshop.write("program.py", source)
    workshop.write("folder/__main__.py", source)
    workshop.write_zip("program.zip", __main__=source)
    workshop.write("package/__init__.py", "")
    workshop.write("package/__main__.py", source)

    ended = watched(workshop, *program.split())

    name = "program.py" if program == "script program.py" else "__main__.py"
    assert ended.stdout == f"enter\nprepare {name}\n__main__\ninstrumented\nleave None []\n"
    assert (ended.status, ended.stderr) == (0, "")


def test_only_the_main_file_is_prepared(workshop: Workshop) -> None:
    """What the program runs with runpy itself is an import like any other."""
    workshop.write("other.py", "print('other')")
    workshop.write("package/__init__.py", "import runpy; runpy.run_module('other')")
    workshop.write("package/program.py", "import runpy; runpy.run_module('other')")

    ended = watched(workshop, "module", "package.program")

    assert ended.stdout == "enter\nother\nprepare program.py\nother\ninstrumented\nleave None []\n"


def test_context_sees_the_exception_before_it_is_printed(workshop: Workshop) -> None:
    """It sees the program's frames only, and a note that it adds stands under the traceback."""
    file = workshop.write("program.py", "def f():\n    1 / 0\nf()")

    ended = watched(workshop, "script", "program.py")

    assert ended.stdout.endswith("leave ZeroDivisionError ['<module>', 'f']\n")
    assert ended.stderr.startswith(f'Traceback (most recent call last):\n  File "{file}", line 3, in <module>\n')
    assert ended.stderr.endswith("ZeroDivisionError: division by zero\na note from around\n")
    assert ended.status == 1


@pytest.mark.parametrize(
    ("source", "seen", "status"),
    [
        ("import sys; sys.exit(3)", "SystemExit ['<module>']", 3),
        ("raise KeyboardInterrupt", "KeyboardInterrupt ['<module>']", -2),
        ("x = = 1", "SyntaxError []", 1),
    ],
)
def test_context_sees_every_way_to_end(source: str, seen: str, status: int, workshop: Workshop) -> None:
    """Also those that are no error, and a program that never began."""
    workshop.write("program.py", source)

    ended = watched(workshop, "script", "program.py")

    assert ended.stdout.endswith(f"leave {seen}\n")
    assert ended.status == status


@pytest.mark.cold  # a copy of the fork server has a frame more there, on 3.12
def test_no_frame_of_the_seam_stands_between_those_of_the_program(workshop: Workshop) -> None:
    """A package that fails to import does so below runpy, where the compiler is handed over."""
    workshop.write("package/__init__.py", "1 / 0")
    workshop.write("package/__main__.py", "")

    ended = watched(workshop, "module", "package.__main__")

    assert "program.py" not in ended.stderr
    assert ended.stderr == workshop.start("-m", "package.__main__").stderr + "a note from around\n"


def test_no_frame_of_a_watcher_stands_between_those_of_the_program(workshop: Workshop) -> None:
    """What gradsan wraps around a call of the program's or of torch's is none of the reader's business."""
    file = workshop.write(
        "program.py",
        """
import gradsan

wrapper = "def watched(function):\\n    function()"
exec(compile(wrapper, gradsan.__path__[0] + "/observe/wrapper.py", "exec"))

def fails():
    1 / 0

watched(fails)
""",
    )

    ended = workshop.gradsan("run", "program.py")

    marked = "    ~~~~~~~^^^^^^^\n" if sys.version_info >= (3, 13) else ""  # what covers its line is marked since
    assert ended.stderr == (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 10, in <module>\n'
        f"    watched(fails)\n{marked}"
        f'  File "{file}", line 8, in fails\n'
        "    1 / 0\n"
        "    ~~^~~\n"
        "ZeroDivisionError: division by zero\n"
    )
