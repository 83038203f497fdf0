"""`python -m observe.injection.host`: runs programs in copies of itself, one after another, each with one fault.

It has imported torch and gradsan, which takes longer than all that a copy does. It is told on stdin what to run, one
JSON line each, and answers each on stdout.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from observe.injection import striking

_SECONDS = 300  # for one program, on a busy machine


class _Hidden(Loader):
    """Has torch imported by the program as if for the first time."""

    def __init__(self) -> None:
        self._torch = sys.modules.pop("torch")
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Of torch alone."""
        return ModuleSpec(name, self, origin=self._torch.__file__) if name == "torch" else None

    def create_module(self, _spec: ModuleSpec) -> ModuleType:
        """The one that was there all the time."""
        return self._torch

    def exec_module(self, module: ModuleType) -> None:
        """It was executed long ago."""


def _plain(script: str) -> None:
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")


def _run(script: str) -> None:
    from gradsan.cli import main

    _Hidden()
    sys.argv = ["gradsan", "run", script]
    sys.orig_argv = [sys.executable, "/bin/gradsan", "run", script]
    main()


def _environment(script: str) -> None:
    """What an interpreter does at its start: the start-up file, then the question whether the script is an archive."""
    import gradsan

    _Hidden()
    os.environ["GRADSAN"] = "1"
    sys.argv, sys.orig_argv = [script], [sys.executable, script]
    exec((Path(gradsan.__file__).parents[1] / "gradsan.pth").read_text(encoding="utf-8"))  # noqa: S102 # our own
    claimed = pkgutil.get_importer(os.path.join(os.getcwd(), script))  # noqa: PTH109, PTH118 # as the interpreter
    sys.path.insert(0, script)
    if claimed is None:
        _plain(script)
    else:
        run_main: Any = runpy
        run_main._run_module_as_main("__main__", False)  # noqa: FBT003, SLF001 # what the interpreter calls


ENTRY_POINTS: dict[str, Callable[[str], None]] = {
    "plain": _plain,
    "run": _run,
    "environment": _environment,
    "itself": _plain,
}


def _child(order: dict[str, Any]) -> None:
    """Never returns."""
    os.chdir(order["folder"])
    sys.path[0] = order["folder"]
    os.environ.pop("GRADSAN", None)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    atexit._clear()  # noqa: SLF001 # as below
    status = 0
    striking.strike(*(order["fault"] or ("", 0, "")))
    try:
        ENTRY_POINTS[order["entry"]](order["script"])
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 # as the interpreter does it
        status = 1
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()  # noqa: SLF001 # copies end without it
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    Path("calls").write_text(json.dumps(striking.calls), encoding="utf-8")
    os._exit(status)


def _waited(child: int) -> int:
    """The status of a child; it is ended where it takes too long."""
    watcher = os.pidfd_open(child)
    ended, _, _ = select.select([watcher], [], [], _SECONDS)
    os.close(watcher)
    if not ended:
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    """Until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    warnings.filterwarnings("ignore", "Guards may run slower on Python 3.13.0")
    striking.load()
    for name in ("torch", "torch._dynamo", "torch.optim", "rich.console", "gradsan.cli.run"):
        importlib.import_module(name)
    import gradsan

    for module in pkgutil.walk_packages(gradsan.__path__, "gradsan."):
        if not module.name.endswith("__main__") and not module.name.startswith("gradsan.plug."):
            importlib.import_module(module.name)
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # what is looked through by the copies would be copied with them
    for line in sys.stdin:
        order = json.loads(line)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                _child(order)
            except BaseException:  # noqa: BLE001 # never on into the loop
                with suppress(BaseException):
                    traceback.print_exc()
                os._exit(99)
        status = _waited(child)
        folder = Path(order["folder"])
        said = {name: (folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err")}
        answers.write(json.dumps({"status": status, **said}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
