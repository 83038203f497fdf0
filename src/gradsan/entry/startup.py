"""`GRADSAN=1 python train.py`: called by `gradsan.pth` when an interpreter starts, only if the variable is set.

`1` explains errors; `run` also reports silent problems when the program ends; `ranks`, which `gradsan run` sets for the
processes that its program starts, does so in those that were started to train together.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gradsan.observe.guarding import is_ours
from gradsan.observe.hidden_frames import hidden

if TYPE_CHECKING:
    from gradsan.entry.as_python import Prepare, Program
    from gradsan.entry.session import Session

_OFF = frozenset({"", "0", "false", "no", "off"})


def begin() -> None:
    """Switch gradsan on for this process; it waits until the program imports torch."""
    mode = os.environ.get("GRADSAN", "").strip().lower()
    if mode in _OFF:
        return
    from gradsan.entry.installing import is_on, take_over
    from gradsan.entry.siblings import is_launched

    if is_on():  # `site` reads the files of a virtual environment twice
        return
    session = _trial()
    if session is None:
        from gradsan.entry.at_exit import reporting_session

        session = reporting_session(keeps_ledger=mode == "run" or (mode == "ranks" and is_launched()))
    take_over(session)
    if not hasattr(sys, "monitoring") and sys.argv[0] not in ("", "-", "-c"):
        _Main(session.marked_main).wait()


def _trial() -> "Session | None":
    """What this process is to do as part of a trial of `gradsan fix`."""
    if "GRADSAN_TRIAL" not in os.environ:
        return None
    from gradsan.entry.trial import Trial
    from gradsan.fix.trials.arrangement import arranged

    arrangement = arranged()
    return None if arrangement is None else Trial(arrangement).session


class _Main:
    """The main file of Python 3.11, which tells nobody of the lines it runs, compiled so that they are recorded.

    No hook sees that file: the interpreter compiles it by itself. But first it asks `sys.path_hooks` whether the file
    is an archive, and leaves an archive to runpy, as it leaves `python -m` to it. So the file is claimed as an
    archive, and run in runpy's place, the way that `gradsan run` does. Nothing of this is left when it begins.
    """

    def __init__(self, prepare: "Prepare") -> None:
        import runpy

        from gradsan.entry import as_python

        self._runpy = runpy
        self._run_module = as_python.run_module_as_main
        self._program = as_python
        self._prepare = prepare
        self._script = os.path.join(os.getcwd(), sys.argv[0])  # noqa: PTH109, PTH118 # as the interpreter does it
        self._is_claimed = False

    def wait(self) -> None:
        """Be asked for it."""

        def claim(path: str) -> object:
            try:
                is_main = self._is_main(path)
            except BaseException as error:
                if not is_ours(error):
                    raise
                is_main = False
            if not is_main:
                raise ImportError
            self._is_claimed = True
            return self

        def leave() -> None:
            self._runpy._run_module_as_main = self._run_module  # type: ignore[attr-defined]  # noqa: SLF001 # as below
            if claim in sys.path_hooks:
                sys.path_hooks.remove(claim)
            sys.path_importer_cache.pop(self._script, None)

        @hidden
        def run(name: str, alter_argv: bool = True) -> None:  # noqa: FBT001, FBT002 # runpy's signature
            self._program.started_anyway(partial(self._run, name, alter_argv, leave), sys.orig_argv[1:])

        self._runpy._run_module_as_main = run  # type: ignore[attr-defined]  # noqa: SLF001 # what `-m` calls
        if sys.argv[0] != "-m":
            sys.path_hooks.append(claim)  # type: ignore[arg-type] # nobody asks what is found there for more

    def _is_main(self, path: str) -> bool:
        return path == self._script and not path.endswith(".pyc") and os.path.isfile(path)  # noqa: PTH113 # cheaper

    @hidden
    def _run(self, name: str, alter_argv: bool, leave: Callable[[], None]) -> None:  # noqa: FBT001 # as above
        leave()
        program: Program
        if self._is_claimed:
            program = self._program.find_script(sys.argv[0], tuple(sys.argv[1:]))
        elif alter_argv:
            program = self._program.Module(name, tuple(sys.argv[1:]))
        else:
            program = self._program.Archive(sys.argv[0], tuple(sys.argv[1:]))
        if sys.flags.safe_path and not alter_argv:
            del sys.path[0]  # the place of the archive, which only an archive is to have
        self._program.run_program(program, prepare=self._prepare)
