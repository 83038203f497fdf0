"""How often one failure is explained again."""

from dataclasses import replace

from gradsan.causes.carried_state import CarriedState
from gradsan.explanation.explanation_budget import Patience
from gradsan.report import Diagnosis

FOUND = Diagnosis(
    code=CarriedState.code,
    name=CarriedState.name,
    severity="error",
    origin="run",
    fingerprint="f",
    confidence="certain",
    message="a tensor carries on",
)


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_a_failure_in_every_step_is_explained_again_three_times_and_then_told_again() -> None:
    """Explanations of a second each would take half of a run whose steps take a second."""
    clock, made = Clock(), 0
    patience = Patience(clock)

    def explained() -> Diagnosis:
        nonlocal made
        made += 1
        clock.now += 1
        return replace(FOUND, count=made)

    reported = []
    for _ in range(20):
        clock.now += 1
        reported.append(patience.explain(("line", 3), explained))

    assert [each.count for each in reported if each] == [1, 2, *[3] * 18]
    assert reported[-1] is not None
    assert "of an earlier time" in reported[-1].notes[-1]


def test_another_line_is_explained_all_the_same() -> None:
    """What one line has cost does not silence another."""
    clock = Clock()
    patience = Patience(clock)

    def explained() -> Diagnosis:
        clock.now += 1
        return FOUND

    for _ in range(5):
        patience.explain("here", explained)

    assert patience.explain("there", explained) == FOUND
