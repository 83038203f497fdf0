"""A share of `make prove`: whatever fails in gradsan, whenever a signal comes, the program goes on as without it."""

from collections.abc import Iterator

import pytest

from observe.injection.programs import PROGRAMS
from observe.injection.signals import lost
from observe.injection.trying import Fault, Host, faults, felt

SHARE = 30  # of several thousand faults, evenly
SIGNALS = 100


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """A process that has loaded gradsan with a fault in every function."""
    with Host() as started:
        yield started


@pytest.mark.parametrize("program", PROGRAMS)
def test_error_of_its_own_changes_nothing(program: str, host: Host) -> None:
    """What it prints, its status and the error that ends it are those of a plain run, in whichever function it is."""
    expected = host.run(program, "plain")
    every = list(faults(host, [program]))
    chosen = every[:: max(len(every) * len(PROGRAMS) // SHARE, 1)]

    reports = [felt(host, fault, expected) for fault in chosen]

    assert [report for report in reports if report is not None] == []


def test_fault_is_said_in_one_line(host: Host) -> None:
    """Whoever runs the program learns that something is missing; the next error is explained all the same."""
    function = "gradsan.explanation.explainer.Explainer._explained"

    host.run("fails", "run", Fault("fails", "run", function, 1, "RuntimeError"))

    said = [line for line in host.said.splitlines() if line.startswith("gradsan: ")]
    assert said == [f"gradsan: an error is not explained: RuntimeError: injected into {function}"]
    assert "GS103 carried-state" in host.said


def test_signals_arrive_wherever_gradsan_is_at_work() -> None:
    """What the handler of a signal raises is the program's, in our frames too."""
    count, said = lost(SIGNALS)

    assert count == 0, said
