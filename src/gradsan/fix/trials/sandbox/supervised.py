"""Has a supervisor run a trial, and listens to what the program prints meanwhile."""

import json
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradsan.errors import GradsanError
from gradsan.fix.trials.sandbox.plans import Ended, Plan
from gradsan.fix.trials.sandbox.unsupervised import unsupervised

_HOME = str(Path(__file__).resolve().parents[4])  # where `gradsan` lies
_PROGRAM = f"import sys; sys.path.append({_HOME!r}); from gradsan.fix.trials.sandbox.supervisor import main; main()"
_TAIL = 64_000  # bytes of what the program prints that are kept
_TICK = 0.5  # seconds between two looks at the clock
_PATIENCE = 60.0  # seconds for a supervisor to tidy up


class TrialError(GradsanError):
    """A trial that could not be made at all."""


def new_folder() -> Path:
    """A path for a trial's own folder, which nobody has."""
    try:
        home = Path(tempfile.gettempdir()).resolve()
    except FileNotFoundError:  # none that can be written, as on a full disk
        raise TrialError("there is no room for temporary files", "make some, or name a folder with TMPDIR") from None
    return home / f"gradsan-{secrets.token_hex(8)}"


def can_have_layers() -> bool:
    """Whether this system lets a trial have a file system of its own."""
    if sys.platform != "linux":
        return False
    try:
        with supervised(Plan(new_folder(), Path("/"), layers=True), seconds=20) as ended:
            return ended.status == 0
    except TrialError:
        return False


@contextmanager
def supervised(plan: Plan, *, seconds: float, tick: Callable[[float], None] = lambda _: None) -> Iterator[Ended]:
    """The trial, over; within the block its notes are there. `tick` is told from time to time how long it takes."""
    if not hasattr(os, "fork"):
        with unsupervised(plan, seconds=seconds) as ended:
            yield ended
        return
    process = subprocess.Popen(  # noqa: S603 # our own program
        [sys.executable, "-I", "-S", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us to handle
    )
    try:
        yield _Attendance(process, seconds, tick).attend(plan)
    finally:
        _close(process)
        shutil.rmtree(plan.folder, ignore_errors=True)  # where the supervisor itself was killed


def _close(process: "subprocess.Popen[bytes]") -> None:
    """Let the supervisor end, and with it all that it owns."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)


class _Attendance:
    """Listens to a supervisor and to the program at the same time."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float, tick: Callable[[float], None]) -> None:
        assert process.stdin is not None  # noqa: S101 # all three are pipes
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        self._plan, self._answers, self._output = process.stdin, process.stdout.fileno(), process.stderr.fileno()
        self._seconds = seconds
        self._tick = tick
        self._said = b""

    def attend(self, plan: Plan) -> Ended:
        """Until it is over, or takes too long."""
        with suppress(BrokenPipeError):  # it has ended, and said why
            self._plan.write(plan.encoded())
            self._plan.flush()
        began = time.monotonic()
        answer = b""
        while not answer.endswith(b"\n"):
            passed = time.monotonic() - began
            if passed > self._seconds:
                return Ended(None, self._tail())
            self._tick(passed)
            ready, _, _ = select.select([self._answers, self._output], [], [], min(_TICK, self._seconds - passed))
            if self._output in ready:
                self._listen()
            if self._answers in ready:
                more = os.read(self._answers, 4096)
                if not more:
                    raise TrialError("the trial's process was ended", "try again; it said: " + self._tail()[-500:])
                answer += more
        arranged = json.loads(answer)
        if "failed" in arranged:
            raise TrialError(
                f"the trial could not be made ({arranged['failed']})",
                "remove what is in the way, or try it in a copy with GRADSAN_TRIALS=copy",
            )
        while select.select([self._output], [], [], 0)[0] and self._listen():
            pass
        return Ended(arranged["status"], self._tail())

    def _listen(self) -> bool:
        """Take what there is; whether there was something."""
        more = os.read(self._output, 1 << 16)
        self._said = (self._said + more)[-_TAIL:]
        return bool(more)

    def _tail(self) -> str:
        return self._said.decode(errors="replace")
