"""Makes a copy of the fork server into a program, as `Modules/main.c` makes an interpreter into one.

No frame of ours lies below the program's, and the interpreter's own functions run it, show its error and end the
process: the copy is made in a thread in which no Python function runs, and `os.fork` itself calls what follows.
"""

import _thread
import atexit
import builtins
import ctypes
import io
import operator
import os
import pkgutil
import signal
import site
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.machinery import BuiltinImporter
from itertools import pairwise
from types import ModuleType
from typing import Any

_PYTHON = ctypes.pythonapi
_STANDARD = [each for each in sys.path if each.startswith(sys.base_prefix) and "site-packages" not in each]
_MODULE = "__import__('runpy')._run_module_as_main({!r}, {})"
_MOST_FILES = 1024

Run = Callable[[], object]


class Starting:
    """A program that is about to start, with what the interpreter is called with."""

    def __init__(
        self,
        real: str,
        arguments: Sequence[str],
        variables: Mapping[bytes, bytes],
        files: Sequence[int],
    ) -> None:
        self._real = real
        self._arguments, self._variables, self._files = list(arguments), variables, files
        self._has_begun = False
        self._runs: list[Run] = []
        self._answers: deque[object] = deque()  # 0, or -1 where an error was shown

    def fork(self, first: "Sequence[Run]") -> int:
        """The new process; `first` is called before, in the thread that forks."""
        os.register_at_fork(after_in_child=self._become)
        # Whatever the list has by then is called, and once: a program forks too.
        os.register_at_fork(after_in_child=partial(self._answers.extend, map(operator.call, iter(self._runs))))
        os.register_at_fork(after_in_child=self._end)
        sys.unraisablehook = _give_up  # where the thread reports that there is no new process
        forked: deque[Any] = deque()
        _thread.start_new_thread(forked.extend, (map(operator.call, [*first, os.fork]),))
        while len(forked) <= len(first):
            os.sched_yield()
        return int(forked[-1])

    def _become(self) -> None:
        """All that comes before the program's first line."""
        if self._has_begun:
            return
        self._has_begun = True
        sys.unraisablehook = sys.__unraisablehook__
        self._close_others()
        _open_streams()
        os.setsid()
        os.environ.clear()
        os.environb.update(self._variables)
        sys.orig_argv[:] = [sys.executable, *self._arguments]
        self._follow_options()
        self._runs.append(self._prepared())

    def _close_others(self) -> None:
        edges = sorted({2, *self._files, _MOST_FILES})
        for number, following in pairwise(edges):
            os.closerange(number + 1, following)

    def _follow_options(self) -> None:
        """Those before the program; what is left are the program and its arguments."""
        sys.warnoptions[:] = [each for each in os.environ.get("PYTHONWARNINGS", "").split(",") if each]
        sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
        while self._arguments[0] in {"-B", "-W"}:
            option = self._arguments.pop(0)
            if option == "-W":
                sys.warnoptions.append(self._arguments.pop(0))
            else:
                sys.dont_write_bytecode = True
        warnings._processoptions(sys.warnoptions)  # type: ignore[attr-defined]  # noqa: SLF001 # as its import does

    def _prepared(self) -> Run:
        kind, *rest = self._arguments
        if kind.startswith("-m") and kind != "-m":  # `-mpytest`
            kind, rest = "-m", [kind[2:], *rest]
        sys.argv = [kind, *rest[1:]] if kind in {"-c", "-m"} else [kind, *rest]
        _fresh_main()
        self._find_modules()
        if kind == "-c":
            sys.path.insert(0, "")
            return partial(_PYTHON.PyRun_SimpleStringFlags, rest[0].encode(), None)
        if kind == "-m":
            sys.path.insert(0, os.getcwd())  # noqa: PTH109 # `sys.path` has strings
            return partial(_PYTHON.PyRun_SimpleStringFlags, _MODULE.format(rest[0], "True").encode(), None)
        return _file(kind)

    def _find_modules(self) -> None:
        """`sys.path`, and what `site` reads there; of whose environment, it tells by the interpreter."""
        paths = os.environ.get("PYTHONPATH", "")
        sys.path[:] = [*(os.path.abspath(each) for each in paths.split(os.pathsep) if paths), *_STANDARD]  # noqa: PTH100
        sys.path_importer_cache.clear()
        own, sys.executable = sys.executable, self._real
        site.main()
        sys.executable = own

    def _end(self) -> None:
        """As the interpreter does when the program's last line is done, or its error shown."""
        if sys._getframe().f_back is not None:  # noqa: SLF001 # the program runs: it is it that forks
            return
        failed = list(self._answers) != [0]
        if not failed or getattr(sys, "last_type", None) is not KeyboardInterrupt:
            _PYTHON.Py_Exit(int(failed))
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 # as below
        atexit._run_exitfuncs()  # noqa: SLF001 # what comes before death by Ctrl-C
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def _give_up(_: object) -> None:
    """Nobody is to wait for a program that cannot be forked: the namespace it was for may have ended meanwhile."""
    os._exit(1)


def _open_streams() -> None:
    """Standard input, output and errors, as `Python/pylifecycle.c` makes them: they ask what they are connected to."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old, mode = getattr(sys, name), "r" if number == 0 else "w"
        buffer: Any = open(number, mode + "b", closefd=False)  # noqa: SIM115 # a number
        buffer.raw.name = f"<{name}>"
        text = io.TextIOWrapper(
            buffer,
            old.encoding,
            old.errors,
            newline=None if number == 0 else "\n",
            line_buffering=number == 2,
        )
        vars(text)["mode"] = mode
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def _fresh_main() -> None:
    main = ModuleType("__main__")
    vars(main).update(__loader__=BuiltinImporter, __annotations__={}, __builtins__=builtins)
    sys.modules["__main__"] = main


def _file(name: str) -> Run:
    """`python x.py`, or a folder or an archive."""
    absolute = os.path.join(os.getcwd(), name)  # noqa: PTH109, PTH118 # as the interpreter does it
    if pkgutil.get_importer(absolute) is not None:
        sys.path.insert(0, absolute)
        return partial(_PYTHON.PyRun_SimpleStringFlags, _MODULE.format("__main__", "False").encode(), None)
    sys.path.insert(0, os.path.dirname(os.path.realpath(name)))  # noqa: PTH120 # `sys.path` has strings
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(library.fopen(os.fsencode(absolute), b"rb"))
    return partial(_PYTHON.PyRun_SimpleFileExFlags, file, os.fsencode(absolute), 1, None)
