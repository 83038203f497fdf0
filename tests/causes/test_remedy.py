"""What causes ask for, as values: everything that making an edit depends on."""

import typing

import pytest

from gradsan.causes import Cause, all_causes, cause
from gradsan.causes.diagnosing import remedies_of
from gradsan.causes.meaning import OF_KINDS
from gradsan.causes.remedy import USUAL, Remedy
from gradsan.report import Diagnosis, Fix, FixKind

KINDS: tuple[FixKind, ...] = typing.get_args(FixKind)


def diagnosis(code: str, *kinds: FixKind, **evidence: str) -> Diagnosis:
    """One of this cause, with these fixes."""
    known = cause(code)
    fixes = tuple(Fix(kind, "", "changes-gradients") for kind in kinds)
    return Diagnosis(code, known.name, known.severity, "run", "certain", "", fixes=fixes, evidence=evidence)


def test_every_kind_has_a_usual_remedy() -> None:
    """A new kind says what it is about, where the edit goes, and what it means for the gradients."""
    assert set(USUAL) == set(OF_KINDS) == set(KINDS)


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_own_remedies_say_something_else_than_usual(each: type[Cause]) -> None:
    """What is the same everywhere stands in one place."""
    assert [kind for kind, own in each.own_remedies.items() if own == USUAL[kind] or own.kind != kind] == []


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_what_only_the_source_can_ask_for_has_a_sign(each: type[Cause]) -> None:
    """A fix that is none without a sign names the sign."""
    assert all(own.first_if for own in each.own_remedies.values() if own.only_if_shown)


def test_remedies_follow_the_fixes_of_a_diagnosis() -> None:
    """In their order; a state is cut where it is used, or at the boundary of the step."""
    cut, reset = remedies_of(diagnosis("GS103", "detach", "reset-state"))

    assert (cut.kind, cut.where, cut.unless) == (
        "detach",
        ("single use", "boundary", "use"),
        "nothing is left to train",
    )
    assert (reset.kind, reset.where, reset.trusted) == ("reset-state", ("boundary", "collection"), False)


def test_output_is_cut_in_the_loss_that_is_for_others() -> None:
    """A critic's loss does not train the generator; where the earlier pass trains its maker, the later one is cut."""
    trains = "earlier_pass_trains"
    (for_others,) = remedies_of(diagnosis("GS106", "detach", **{trains: "others"}))
    (for_maker,) = remedies_of(diagnosis("GS106", "detach", **{trains: "its maker"}))

    assert for_others.where == ("inner loss", "earlier loss")
    assert for_maker.where == ("hand-over", "use", "later loss", "target")


def test_loss_that_is_left_out_has_no_place_in_the_loop() -> None:
    """What is overwritten becomes a term of the sum; what is forgotten, nobody can say."""
    (overwritten,) = remedies_of(diagnosis("GS304", "combine-losses"))
    (forgotten,) = remedies_of(diagnosis("GS304", "combine-losses", parameters_alone="0"))

    assert (overwritten.where, forgotten.where) == (("loop",), ())


def test_kind_without_words_of_its_own_is_the_usual_one() -> None:
    """As in most causes."""
    assert remedies_of(diagnosis("GS102", "retain-graph")) == (
        Remedy("retain-graph", target="earlier pass", where=("earlier pass",)),
    )
