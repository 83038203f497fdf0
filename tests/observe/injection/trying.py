"""Which faults there are, and what becomes of the programs that they are put under."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from forking.starting import REAL_PYTHON
from observe.injection.programs import INSTALLED, PARTS, PROGRAMS
from observe.injection.striking import KINDS

TESTS = Path(__file__).parents[2]
ENTRY_POINTS = ("run", "environment", "itself")


@dataclass(frozen=True, slots=True)
class Fault:
    """A function that fails, in one run of one program."""

    program: str
    entry: str
    function: str
    nth: int  # of its calls
    kind: str  # of the error

    def __str__(self) -> str:
        return f"{self.program} by {self.entry}: {self.kind} in call {self.nth} of {self.function}"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program leaves behind, as far as it is the program's own."""

    status: int
    printed: str
    raised: str  # the last error that its traceback shows, type and message


class Host(AbstractContextManager["Host"]):
    """A process that runs programs in copies of itself."""

    def __enter__(self) -> Self:
        self._place = tempfile.TemporaryDirectory()
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": self._place.name,
            "PYTHONPATH": str(TESTS),
            "PYTHONHASHSEED": "0",
        }
        self._process = subprocess.Popen(
            [REAL_PYTHON, "-m", "observe.injection.host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: value for name, value in environment.items() if name != "GRADSAN"},
            encoding="utf-8",
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
        self._place.cleanup()

    def run(self, program: str, entry: str, fault: Fault | None = None, source: str | None = None) -> Ended:
        """A program to its end; `source` is what there is in place of one of `PROGRAMS`."""
        folder = Path(self._place.name) / f"{program}-{entry}"
        folder.mkdir(exist_ok=True)
        script = folder / "program.py"
        (folder / "parts.py").write_text(PARTS, encoding="utf-8")
        text = PROGRAMS[program] if source is None else source
        script.write_text((INSTALLED if entry == "itself" else "") + text, encoding="utf-8")
        struck = None if fault is None else (fault.function, fault.nth, fault.kind)
        answer = self._asked({"folder": str(folder), "script": script.name, "entry": entry, "fault": struck})
        self.said = answer["err"]
        return Ended(answer["status"], answer["out"], _raised(answer["err"]))

    def calls(self, program: str, entry: str) -> dict[str, int]:
        """How often each function was called in the latest such run."""
        found = (Path(self._place.name) / f"{program}-{entry}" / "calls").read_text(encoding="utf-8")
        calls: dict[str, int] = json.loads(found)
        return calls

    def _asked(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def _raised(stderr: str) -> str:
    """What stands behind the traceback of an error that nobody caught."""
    lines = stderr.splitlines()
    begun = [place for place, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    if not begun:
        return ""
    return next((line for line in lines[begun[-1] + 1 :] if not line.startswith(" ")), "")


def faults(
    host: Host, programs: Sequence[str] = tuple(PROGRAMS), entries: Sequence[str] = ENTRY_POINTS
) -> Iterator[Fault]:
    """Every function that runs, at its first call and at one in the middle; each kind of error in its turn."""
    kinds = tuple(KINDS)
    turn = 0
    for program in programs:
        for entry in entries:
            host.run(program, entry)
            for function, calls in sorted(host.calls(program, entry).items()):
                for nth in sorted({1, calls // 2 + 1}):
                    turn += 1
                    yield Fault(program, entry, function, nth, kinds[turn % len(kinds)])


def felt(host: Host, fault: Fault, expected: Ended) -> str | None:
    """What the program noticed of a fault; None: nothing."""
    ended = host.run(fault.program, fault.entry, fault)
    if ended == expected:
        return None
    return f"{fault}\n    {expected}\n    {ended}\n{host.said[-1500:]}"
