"""What takes too much time or memory is ended, and everything else is done all the same."""

import os
import signal
import sys

import pytest

from gradsan.check import workers
from gradsan.check.workers import Exceeded, answers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such processes")


def work(item: str) -> str:
    """Each item is the name of a way to end."""
    if item == "hangs":
        while True:
            pass
    if item == "grows":
        return str(len(bytearray(workers.MEMORY * 2)))
    if item == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    return item.upper()


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_that_exceeds_its_budget_is_left_out(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """With the reason; those before and after it have their answers."""
    monkeypatch.setattr(workers, "SECONDS", 0.3)

    done = dict(answers(work, ["a", "hangs", "b", "grows", "c", "crashes", "d"], jobs=jobs))

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
