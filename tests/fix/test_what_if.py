"""Fixes are rehearsed on the life that led to the error."""

from dataclasses import replace

from gradsan.fix.what_if import predict
from gradsan.lifecycle.events import Walked
from gradsan.lifecycle.recording import Recording
from gradsan.report import Diagnosis, Fix
from lifecycle.lives import edge, now, op, sin, times
from lifecycle.tensor_rules import Tape

FOUND = Diagnosis(
    code="GS103",
    name="carried-state",
    severity="error",
    origin="run",
    confidence="certain",
    message="",
    notes=("not `retain_graph=True`: in general", "another note"),
    fixes=(Fix("retain-graph", "keep it", "same-gradients"), Fix("detach", "cut it", "changes-gradients")),
)


def carried(*, weight_is_saved: bool) -> Recording:
    """Two steps of a state that carries its history; the optimizer steps in between."""
    tape = Tape()
    weight = tape.leaf("weight", 16)
    start = tape.leaf("start", 16)
    state = times(tape, start, weight) if weight_is_saved else sin(tape, start)
    first = tape.walk(state)
    tape.step("SGD", weight)
    begins = now(tape)
    later = times(tape, state, weight)
    failing = tape.walk(later)
    crossing, old = frozenset({edge(later, state)}), frozenset({op(state)})
    return Recording(tape.life(), crossing, old, frozenset({first.id}), failing.id, begins)


def test_remedy_that_would_raise_again_comes_last_and_a_note_says_why() -> None:
    """Retained, the old graph needs a parameter that the step has changed."""
    predicted = predict(FOUND, carried(weight_is_saved=True))

    assert [fix.kind for fix in predicted.fixes] == ["detach", "retain-graph"]
    assert predicted.fixes[0].effects.saved_bytes is not None
    assert predicted.notes[0] == "another note"
    assert "stop with the in-place error (GS201)" in predicted.notes[1]


def test_retaining_that_would_not_raise_is_recognised_by_what_it_costs() -> None:
    """One op of two is the step's own."""
    predicted = predict(FOUND, carried(weight_is_saved=False))

    assert [fix.kind for fix in predicted.fixes] == ["retain-graph", "detach"]
    assert "would go through 2 ops instead of the 1 of its own step" in predicted.notes[1]


def test_nothing_is_promised_where_the_life_does_not_say() -> None:
    """The general note stays."""
    predicted = predict(FOUND, replace(carried(weight_is_saved=False), complete=False))

    assert predicted.notes == FOUND.notes


def test_parameters_that_a_remedy_cuts_off_are_named() -> None:
    """What leads to `start` is the old part alone, and its own pass has been removed from the explanation."""
    recording = carried(weight_is_saved=False)
    events = tuple(
        each for each in recording.life.events if not (isinstance(each, Walked) and each.asked.id != recording.failing)
    )
    predicted = predict(FOUND, replace(recording, life=replace(recording.life, events=events), earlier=frozenset()))

    assert next(fix for fix in predicted.fixes if fix.kind == "detach").effects.parameters_cut_off == ("start",)
