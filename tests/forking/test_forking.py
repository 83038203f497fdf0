"""A copy of the fork server does not differ from an interpreter that was started."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from forking.starting import CAN_FORK, REAL_PYTHON

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="there is no fork server")

SELF = """\
import __main__, os, signal, sys, threading, warnings
print(sys.argv, sys.path, sys.orig_argv[1:], __name__, getattr(__main__, "__file__", None), vars(__main__).keys())
print(sys._getframe().f_back is None or sys.argv[0] != "x.py", threading.current_thread() is threading.main_thread())
print(sys.warnoptions, warnings.filters, sys.dont_write_bytecode, sys.flags, sys.prefix, os.getcwd())
print([signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)])
for each in (sys.stdin, sys.stdout, sys.stderr):
    print(each.name, each.mode, each.encoding, each.errors, each.line_buffering)
print(sorted(set(os.environ) - {"_"}), os.environ.get("SEEN"), sys.stdin.read())
print([name for name in ("torch", "gradsan", "numpy") if name in sys.modules])
"""
ENDS = {
    "its end": "print('out')",
    "a status": "import sys; sys.exit(3)",
    "a message": "import sys; sys.exit('because')",
    "an error": "def f():\n    1 / 0\nf()",
    "an error with a cause": "try:\n    [][1]\nexcept IndexError as error:\n    raise ValueError(2) from error",
    "a hook of its own": "import sys\nsys.excepthook = lambda *error: print(error[1])\n1 / 0",
    "a name that is missing": "import nowhere",
    "what is no Python": "1 +",
    "a signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "Ctrl-C": "raise KeyboardInterrupt",
    "no goodbye": "import os\nos._exit(4)",
    "handlers": "import atexit\natexit.register(print, 'later')\nprint('now')",
    "handlers after an error": "import atexit\natexit.register(print, 'later')\n1 / 0",
    "a thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
    "its objects": "class A:\n    def __del__(self):\n        print('gone')\na = A()",
    "a child": "import os\nchild = os.fork()\nprint(child and os.waitpid(child, 0)[1], flush=True)\n1 / (child and 1)",
    "a warning": "import warnings\nwarnings.warn('beware')",
    "a library": "import sys, torch\nprint(torch.ones(1), torch.__spec__.origin, 'torch.nn' in sys.modules)",
}
RUNS_TORCH = {"a library"}
WAYS: dict[str, Sequence[str]] = {
    "script": ("x.py", "a", "-B"),
    "command": ("-c", SELF, "a"),
    "module": ("-m", "x", "a"),
    "module in one word": ("-mx", "a"),
    "options": ("-B", "-W", "error", "-W", "ignore::UserWarning", "x.py"),
    "folder": ("folder", "a"),
    "absolute": (f"{os.curdir}/x.py",),
}


def started(python: str, folder: Path, *words: str, more: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """How it ends, and what it prints."""
    environment = os.environ | {"PYTHONPATH": "lib", "PYTHONHASHSEED": "0", "SEEN": "yes"} | dict(more or {})
    done = subprocess.run(
        [python, *words], cwd=folder, env=environment, input="given", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.replace(python, "PYTHON")


@pytest.mark.parametrize("way", WAYS)
def test_program_finds_what_a_started_one_finds(way: str, tmp_path: Path) -> None:
    """Arguments, paths, `__main__`, the main thread, options, handlers of signals, streams, variables."""
    (tmp_path / "x.py").write_text(SELF, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__main__.py").write_text(SELF, encoding="utf-8")

    forked, real = (started(python, tmp_path, *WAYS[way]) for python in (sys.executable, REAL_PYTHON))

    assert forked[0] == 0, forked[2]
    assert forked == real


@pytest.mark.parametrize("end", [pytest.param(end, marks=[pytest.mark.torch] * (end in RUNS_TORCH)) for end in ENDS])
def test_program_ends_as_a_started_one_ends(end: str, tmp_path: Path) -> None:
    """Status, output and traceback; what it has left to do is done."""
    (tmp_path / "x.py").write_text(ENDS[end], encoding="utf-8")

    forked, real = (started(python, tmp_path, "x.py") for python in (sys.executable, REAL_PYTHON))

    assert forked == real


def test_what_gradsan_reads_at_the_start_is_read(tmp_path: Path) -> None:
    """The start-up file that every interpreter reads, with the variable of this program."""
    (tmp_path / "x.py").write_text("import gradsan.entry.installing as s\nprint(s.is_on())", encoding="utf-8")

    on, off = (started(sys.executable, tmp_path, "x.py", more={"GRADSAN": each})[1] for each in ("1", ""))

    assert (on, off) == ("True\n", "False\n")


def test_module_of_the_program_comes_before_one_that_the_server_has(tmp_path: Path) -> None:
    """Whatever it is called."""
    (tmp_path / "rich.py").write_text("mine = 1", encoding="utf-8")
    (tmp_path / "x.py").write_text("import rich\nprint(rich.mine)", encoding="utf-8")

    assert started(sys.executable, tmp_path, "x.py") == (0, "1\n", "")


def test_signals_reach_the_program_and_its_end_is_the_end(tmp_path: Path) -> None:
    """Whoever started it knows one process only."""
    (tmp_path / "x.py").write_text("import time; print('here', flush=True); time.sleep(60)", encoding="utf-8")
    process = subprocess.Popen([sys.executable, "x.py"], cwd=tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"

    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == -signal.SIGTERM
    process.stdout.close()
