"""What takes too much time or memory is ended, and everything else is done all the same."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from forking.starting import REAL_PYTHON
from gradsan.check import workers
from gradsan.check.workers import Exceeded, Standby, answers, within_budget

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such processes")


def work(item: str) -> str:
    """Each item is the name of a way to end."""
    if item == "hangs":
        while True:
            pass
    if item == "grows":
        return str(len(bytearray(workers.MEMORY * 2)))
    if item == "raises":
        raise ValueError(item)
    if item == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    return item.upper()


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_that_exceeds_its_budget_is_left_out(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """With the reason; those before and after it have their answers."""
    monkeypatch.setattr(workers, "SECONDS", 0.3)

    done = dict(answers(work, ["a", "hangs", "b", "grows", "c", "crashes", "raises", "d"], jobs=jobs))

    assert {name: answer for name, answer in done.items() if not isinstance(answer, Exceeded)} == {
        "a": "A",
        "b": "B",
        "c": "C",
        "d": "D",
    }
    assert [str(done[name]) for name in ("hangs", "grows", "crashes")] == [
        "Exceeded(why='it takes longer than 30 seconds')",
        "Exceeded(why='it takes more than 1 GB of memory')",
        "Exceeded(why='reading it ends the process that does so')",
    ]
    assert "ValueError: raises, at test_workers.py" in str(done["raises"])


def test_process_that_is_asked_again_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it dies of its work: then there is another."""
    monkeypatch.setattr(workers, "SECONDS", 0.3)
    standby = Standby[str, tuple[str, int]](lambda item: (work(item), os.getpid()))

    first, again = standby.ask("a"), standby.ask("b")
    dead = standby.ask("hangs")
    other = standby.ask("c")
    standby.end()

    assert isinstance(first, tuple)
    assert again == ("B", first[1])
    assert isinstance(dead, Exceeded)
    assert isinstance(other, tuple)
    assert other[0] == "C"
    assert other[1] != first[1]


def test_work_that_nobody_waits_for_is_given_up() -> None:
    """Whoever asks next has an answer; and where nothing is being done, nothing is given up."""
    standby = Standby(work)
    assert standby.ask("a") == "A"
    standby.interrupt()
    assert standby.ask("b") == "B"
    found: list[object] = []
    asking = threading.Thread(target=lambda: found.append(standby.ask("hangs")))

    asking.start()
    while asking.is_alive():
        standby.interrupt()
        asking.join(0.01)

    assert isinstance(found[0], Exceeded)
    assert standby.ask("c") == "C"
    standby.end()


def test_work_within_work_has_the_budget_of_the_whole() -> None:
    """No process is started for a part of it."""
    processes = within_budget(lambda: (os.getpid(), within_budget(os.getpid)))

    assert isinstance(processes, tuple)
    assert processes[0] == processes[1] != os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it may take as long as the budget")
@pytest.mark.parametrize("jobs", [1, 3])
def test_no_process_outlives_the_one_that_asked(jobs: int) -> None:
    """Nobody else can end it: be it in the midst of a regular expression when `check` is killed."""
    endless = "lambda _: (os.write(1, b'%d\\n' % os.getpid()), re.match('(a*)*b', 'a' * 99))"
    program = (
        f"import os, re; from gradsan.check.workers import answers; list(answers({endless}, range(9), jobs={jobs}))"
    )
    with subprocess.Popen([REAL_PYTHON, "-c", program], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        processes = [int(started.stdout.readline()) for _ in range(jobs)]
        started.kill()

    until = time.monotonic() + 20
    while any(map(_runs, processes)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(_runs, processes))


def _runs(process: int) -> bool:
    """Whether it is there, and not only waits for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_process_is_left_when_nobody_wants_more_answers() -> None:
    """Whoever asks may stop asking."""
    asked = answers(lambda _: os.getpid(), range(5), jobs=2)
    processes = {answer for _, answer in (next(asked), next(asked))}
    asked.close()  # type: ignore[attr-defined] # a generator

    assert processes
    for each in processes:
        assert isinstance(each, int)
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)
