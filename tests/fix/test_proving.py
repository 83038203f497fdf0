"""Which fix is taken: decided by what the trials show, here made up."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fix.programs import MAIN, Case
from gradsan.causes.meaning import Meaning
from gradsan.fix.judging.given_compared import Steps
from gradsan.fix.judging.verdicts import Stage, is_also_meant, is_compared, judge
from gradsan.fix.proving import Proof, Prover
from gradsan.fix.trials.arrangement import Line
from gradsan.fix.trials.workshop import Trial, Workshop
from gradsan.report import Diagnosis, Fix

SOURCE = "def main():\n    first.backward()\n    second.backward()\n"
NAMES = {0: ["weight"]}


def steps(*sizes: float, random: int = 0) -> Steps:
    """One parameter is given gradients of these sizes."""
    return [
        {"optimizer": 0, "gradients": [[size, size]], "random": random, "last": False, "stale": False} for size in sizes
    ]


def ended(status: int, given: Steps, *found: Diagnosis, stale: bool = False) -> Trial:
    """A run that is over."""
    return Trial(status, found, given, "Traceback", names=NAMES, stale=stale)


class Acted(Workshop):
    """Runs nothing: `act` says how a program would run, by its text and the reference."""

    def __init__(self, root: Path, act: Callable[[str, str | None], Trial]) -> None:
        super().__init__(root, "python train.py", seconds=1, layers=False)
        self._act = act

    def run(
        self,
        changed: Mapping[str, bytes],
        *,
        reference: str | None = None,
        noted: tuple[int, ...] = (),  # noqa: ARG002 # as the real one
        line: Line | None = None,  # noqa: ARG002 # as above
        precise: bool = False,  # noqa: ARG002 # as above
        weighs: bool = False,  # noqa: ARG002 # as above
    ) -> Trial:
        """How it would end."""
        return self._act(changed.get(MAIN, SOURCE.encode()).decode(), reference)


def two_losses(folder: Path) -> Diagnosis:
    """A diagnosis with two fixes, the better first."""
    case = Case(folder, SOURCE)
    found = case.diagnosis("GS102", "out", freed=case.at("first"), used=case.at("second"))
    fixes = (Fix("combine-losses", "one pass", "same-gradients"), Fix("retain-graph", "retain", "same-gradients"))
    return replace(found, fixes=fixes)


def search(folder: Path, act: Callable[[str, str | None], Trial]) -> tuple[Prover, Diagnosis, Proof | None]:
    """What is found where the program fails at first."""
    diagnosis = two_losses(folder)
    workshop = Acted(folder, act)
    prover = Prover(workshop, Stage(ended(1, [], diagnosis), {}, workshop), report=lambda _: None)
    return prover, diagnosis, prover.prove(diagnosis)


STALE = """\
def main():
    for x, y in batches:
        if len(x):
            loss = criterion(net(x), y)
        else:
            skipped += 1
        loss.backward()
"""


@pytest.mark.parametrize(("given", "taken"), [((1, 2), True), ((1, 5), False)])
def test_edit_that_only_a_trial_speaks_for_is_taken_where_it_trains_as_meant(
    tmp_path: Path, given: tuple[float, float], *, taken: bool
) -> None:
    """No place of the fix's own is there: every branch that left the loss out is tried."""
    case = Case(tmp_path, STALE)
    found = case.diagnosis("GS110", "loss", made=case.at("loss ="), freed=case.at("backward"), used=case.at("backward"))
    found = replace(found, fixes=(Fix("reorder", "", "changes-gradients"),))

    def act(text: str, reference: str | None) -> Trial:
        if reference is None and "continue" not in text:
            return ended(1, steps(1), found)
        return ended(0, steps(*given) if reference is None else steps(1, 2))

    workshop = Acted(tmp_path, act)
    proof = Prover(workshop, Stage(ended(1, steps(1), found), {}, workshop), report=lambda _: None).prove(found)

    assert (proof is not None) is taken


def test_edits_are_searched_only_where_there_is_a_run_to_compare_with(tmp_path: Path) -> None:
    """Else whatever ends the error would be called right."""
    before = ended(1, steps(1))
    stale = Stage(before, {}, Acted(tmp_path, lambda _text, _reference: ended(0, steps(1, 0), stale=True)))

    assert is_compared("again", stale)
    assert not is_compared("open", stale)
    assert not is_compared("begun", stale)
    assert not is_compared("cut", stale)  # a step is given nothing: state begins again, with values nobody knows


def test_error_that_comes_later_with_a_fix_is_not_gone(tmp_path: Path) -> None:
    """The same cause, name and function, at a rewritten line and in a later step: a part of it is left."""
    case = Case(tmp_path, SOURCE)
    later = replace(case.at("second"), source="second.backward(retain_graph=number < 3)", step=3)

    def act(text: str, _reference: str | None) -> Trial:
        if text == SOURCE:
            return ended(1, [], two_losses(tmp_path))
        return replace(ended(1, steps(1.0, 1.0), replace(two_losses(tmp_path), used=later)), passes=9)

    prover, _, proof = search(tmp_path, act)

    assert proof is None
    assert prover.otherwise == []


def test_fix_that_trains_as_meant_is_taken(tmp_path: Path) -> None:
    """Every optimizer is given what it would be given with all graphs kept."""
    _, _, proof = search(tmp_path, lambda _text, _reference: ended(0, steps(1, 2)))

    assert proof is not None
    assert (proof.fixes[0].kind, proof.fixes[0].verified, proof.verdict.answer) == ("combine-losses", True, "agrees")


def test_fix_that_runs_and_trains_something_else_comes_behind_one_that_agrees(tmp_path: Path) -> None:
    """It is neither verified nor called unhelpful: the note says in numbers what it does."""

    def act(text: str, _reference: str | None) -> Trial:
        return ended(0, steps(1, 1) if "+" in text else steps(1, 2))

    prover, diagnosis, proof = search(tmp_path, act)
    marked = prover.marked(diagnosis, None if proof is None else proof.fixes[0])

    assert [(fix.kind, fix.verified) for fix in marked.fixes] == [("retain-graph", True), ("combine-losses", None)]
    assert "combine-losses ends the problem, but" in marked.notes[-1]
    assert "`weight` is given 0.5 times the gradient that is meant (step 2)" in marked.notes[-1]


def test_silent_problems_behind_an_error_do_not_speak_against_its_fix(tmp_path: Path) -> None:
    """The crash had hidden them; they are dealt with next."""
    leak = replace(two_losses(tmp_path), code="GS301", severity="warning")
    piling = replace(leak, code="GS303")

    _, _, proof = search(tmp_path, lambda _text, _reference: ended(0, steps(1, 2), leak, piling))

    assert proof is not None
    assert [each.code for each in proof.new] == ["GS301", "GS303"]


def test_another_error_further_on_does_not_either(tmp_path: Path) -> None:
    """The program came further than before."""
    later = replace(two_losses(tmp_path), code="GS203")

    def act(_text: str, reference: str | None) -> Trial:
        return ended(0, steps(1, 2)) if reference else ended(1, steps(1, 2), later)

    _, _, proof = search(tmp_path, act)

    assert proof is not None
    assert [each.code for each in proof.new] == ["GS203"]


def test_program_that_dies_otherwise_is_not_fixed(tmp_path: Path) -> None:
    """An `AttributeError` of the edit's own is no progress."""
    prover, _, proof = search(tmp_path, lambda _text, _reference: ended(1, steps(1)))

    assert proof is None
    assert all("it ended with status 1" in line for line in prover.failed)


def test_step_that_was_completed_before_the_error_must_stay(tmp_path: Path) -> None:
    """A step that is moved behind another pass takes that one's gradient too."""
    workshop = Acted(tmp_path, lambda _text, _reference: ended(0, steps(3, 2)))
    stage = Stage(ended(1, steps(1)), {}, workshop)

    verdict = judge(ended(0, steps(3, 2)), "open", stage)

    assert (verdict.answer, "3 times" in verdict.why) == ("differs", True)


def test_what_nothing_can_be_compared_with_is_seen_to_run_and_not_verified(tmp_path: Path) -> None:
    """What was seen is said, and who has to decide: also where a line is not known that a run could go by."""
    workshop = Acted(tmp_path, lambda _text, _reference: ended(0, steps(1, 2)))
    stage = Stage(ended(1, []), {}, workshop)

    meanings: tuple[Meaning, ...] = ("open", "attached", "unfrozen", "whole")
    for meaning in meanings:
        verdict = judge(ended(0, steps(1, 2)), meaning, stage)
        assert verdict.answer == "undecided"
        assert "only its author knows whether it trains as meant (with it, " in verdict.why


def test_what_is_attached_again_is_compared_with_a_run_in_which_nothing_is_cut(tmp_path: Path) -> None:
    """Where something was attached there, and it did not take itself away again."""
    case = Case(tmp_path, SOURCE)
    found = case.diagnosis("GS306", "out", cut=case.at("first"))

    def answer(meaning: Meaning, *given: float, noted: tuple[int, ...] = (1,), stale: bool = False) -> str:
        reference = replace(ended(0, steps(1, 2), stale=stale), noted=noted)
        stage = Stage(ended(1, []), {}, Acted(tmp_path, lambda _text, _reference: reference), found)
        return judge(ended(0, steps(*given)), meaning, stage).answer

    assert answer("attached", 1, 2) == "agrees"
    assert answer("attached", 1, 5) == "differs"
    assert answer("unfrozen", 1, 5) == "undecided"  # who is to stay frozen, a run cannot show
    assert answer("attached", 1, 2, noted=()) == "undecided"
    assert answer("attached", 1, 2, stale=True) == "undecided"


def test_what_an_optimizer_lacked_is_compared_from_where_it_is_given(tmp_path: Path) -> None:
    """Whatever optimizer has it, in whatever order; also in later steps, which begin where something new is trained."""

    def answer(ours: Steps, late: Steps, *, noted: tuple[int, ...] = (0,), momentum: bool = False) -> str:
        reference = replace(ended(0, steps(1, 2)), noted=noted, late=steps(3), momentum=momentum)
        stage = Stage(ended(0, steps(1, 2)), {}, Acted(tmp_path, lambda _text, _reference: reference))
        return judge(replace(ended(0, ours), late=late), "owned", stage).answer

    first, second = steps(1, 2)
    assert answer([first, second], steps(3)) == "agrees"
    assert answer([first, {**second, "optimizer": 1, "gradients": [None, *second["gradients"]]}], steps(3)) == "agrees"
    assert answer([first, second], steps(4)) == "differs"
    assert answer([first, second], []) == "undecided"
    assert answer([first, second], steps(3), noted=()) == "undecided"
    assert answer([first, second], steps(3), momentum=True) == "undecided"  # it may go on with it, or begin again


def test_last_digits_that_a_step_makes_larger_are_told_from_another_meaning(tmp_path: Path) -> None:
    """In double precision, they stay too small to be seen; a difference that was there from the start does not."""

    class Rounding(Acted):
        def run(self, changed: Mapping[str, bytes], *, precise: bool = False, **_: Any) -> Trial:  # noqa: ANN401 # as above
            assert changed in ({"fixed": b""}, {})
            return ended(0, steps(1, 2, 3 if precise or not changed else 3.1))

    def answer(*given: float) -> str:
        stage = Stage(ended(0, steps(1, 2, 3)), {}, Rounding(tmp_path, lambda _text, _reference: ended(0, [])))
        return judge(replace(ended(0, steps(*given)), changed={"fixed": b""}), "kept", stage).answer

    assert answer(1, 2 + 1e-7, 3.1) == "agrees"
    assert answer(1, 2, 3.1) == "differs"


def test_another_meaning_that_trains_as_much_is_a_choice(tmp_path: Path) -> None:
    """One that trains less is none, nor one with which a term of a loss would train nothing."""

    def also(*given: float, idle: bool = False) -> bool:
        reference = replace(ended(0, steps(*given)), idle=idle)
        stage = Stage(ended(1, []), {}, Acted(tmp_path, lambda _text, _reference: reference))
        return is_also_meant(ended(0, steps(1, 2)), "stored", stage)

    assert also(1, 3)
    assert not also(1, 3, idle=True)
    assert not also(1, 2)
    assert not also(0, 0)


def test_step_that_trained_on_old_values_need_not_stay(tmp_path: Path) -> None:
    """A retained graph of older parameters led to it: it was wrong already."""
    first, second = steps(1, 5)
    stage = Stage(
        ended(1, [first, {**second, "stale": True}]),
        {},
        Acted(tmp_path, lambda _text, _reference: ended(0, steps(1, 2, 3))),
    )

    assert judge(ended(0, steps(1, 2, 3)), "cut", stage).answer == "agrees"
    assert judge(ended(0, steps(4, 2, 3)), "cut", stage).answer == "differs"


def test_what_is_computed_in_every_iteration_is_compared_with_a_run_that_computes_it_again(tmp_path: Path) -> None:
    """Where not all of it can be, who is trained says too little."""
    trial, before = ended(0, steps(1, 2)), ended(1, steps(1))

    def verdict(again: Trial) -> str:
        return judge(trial, "again", Stage(before, {}, Acted(tmp_path, lambda _text, _reference: again))).answer

    assert verdict(ended(0, steps(1, 2))) == "agrees"
    assert verdict(ended(0, steps(1, 5))) == "differs"
    assert verdict(ended(0, steps(1, 2), stale=True)) == "undecided"
    assert verdict(ended(1, steps(1))) == "undecided"


def test_what_begins_again_is_compared_with_kept_graphs_only_while_they_are_fresh(tmp_path: Path) -> None:
    """Kept graphs of old parameters give other gradients than a right program."""
    trial, before = ended(0, steps(1, 2)), ended(1, steps(1))
    stale = Acted(tmp_path, lambda _text, _reference: ended(0, steps(1, 5), stale=True))
    fresh = Acted(tmp_path, lambda _text, _reference: ended(0, steps(1, 5)))

    assert judge(trial, "begun", Stage(before, {}, stale)).answer == "agrees"
    assert judge(trial, "begun", Stage(before, {}, fresh)).answer == "differs"


def test_search_that_takes_too_long_is_given_up_and_says_so(tmp_path: Path) -> None:
    """A trial of each of many places may take minutes in all; what has a reason is tried all the same."""
    case = Case(tmp_path, STALE)
    found = case.diagnosis("GS110", "loss", made=case.at("loss ="), freed=case.at("backward"), used=case.at("backward"))
    found = replace(found, fixes=(Fix("reorder", "", "changes-gradients"),))
    fails = ended(1, steps(1), found)
    workshop = Acted(tmp_path, lambda _text, reference: ended(0, steps(1, 2)) if reference else fails)
    clock = iter(range(0, 10_000, 1_000))
    stage = Stage(fails, {}, workshop)
    prover = Prover(workshop, stage, report=lambda _: None, now=lambda: next(clock))

    assert prover.prove(found) is None
    assert prover.failed[0].startswith("given up after 0 trials: 90 s of searching")


def test_what_is_trained_later_is_no_constant(tmp_path: Path) -> None:
    """Its optimizer had not stepped yet when the program failed: with all graphs kept, it is given a gradient."""
    begun, own = steps(1), [{"optimizer": 1, "gradients": [[2, 2]], "random": 0, "last": False, "stale": False}]
    without = [{**own[0], "gradients": [None]}]

    def act(_text: str, reference: str | None) -> Trial:
        return ended(0, [*begun, *(own if reference in ("kept", "again") else without)], stale=reference == "kept")

    stage = Stage(ended(1, begun), {}, Acted(tmp_path, act))

    assert judge(ended(0, [*begun, *without]), "constant", stage).answer == "differs"
    assert judge(ended(0, [*begun, *own]), "constant", stage).answer == "agrees"


def test_what_was_trained_before_is_a_constant(tmp_path: Path) -> None:
    """A teacher, whose optimizer steps no more."""
    taught, learned = steps(1), [{"optimizer": 1, "gradients": [[2, 2]], "random": 0, "last": False, "stale": False}]
    stage = Stage(ended(1, taught), {}, Acted(tmp_path, lambda _text, _reference: ended(0, [*taught, *learned])))

    assert judge(ended(0, [*taught, *learned]), "constant", stage).answer == "agrees"


def test_what_cannot_be_compared_is_undecided(tmp_path: Path) -> None:
    """Nothing was trained, the reference fails too, or other random numbers were drawn."""
    failing = Acted(tmp_path, lambda _text, _reference: ended(1, []))
    drawing = Acted(tmp_path, lambda _text, _reference: ended(0, steps(5, random=1)))
    before = ended(1, [])

    assert judge(ended(0, []), "kept", Stage(before, {}, failing)).answer == "undecided"
    assert judge(ended(0, steps(1)), "kept", Stage(before, {}, failing)).answer == "undecided"
    assert judge(ended(0, steps(1)), "kept", Stage(before, {}, drawing)).answer == "undecided"
