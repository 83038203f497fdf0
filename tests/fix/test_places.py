"""What a cause asks for can be made: the places, the settings and the questions that it names are known."""

import typing

import pytest

from gradsan.causes import Cause, all_causes
from gradsan.causes.remedy import Loss, Remedy, Sign
from gradsan.fix.kinds import places
from gradsan.fix.kinds.setting import SETTINGS
from gradsan.fix.ranking import SIGNS
from gradsan.fix.what_if import LOSSES
from gradsan.report import FixKind

KINDS: tuple[FixKind, ...] = typing.get_args(FixKind)
REMEDIES = [
    pytest.param(each.remedy(kind, {}), id=f"{each.code}-{kind}") for each in all_causes() for kind in sorted(KINDS)
]


@pytest.mark.parametrize("remedy", REMEDIES)
def test_kind_knows_every_place_that_a_cause_names(remedy: Remedy) -> None:
    """A fix that cannot be written down names none."""
    assert not remedy.where or set(remedy.where) <= set(places(remedy.kind))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"advice"}))
def test_every_place_of_a_kind_is_named_by_a_cause(kind: FixKind) -> None:
    """Else nobody would come to it."""
    evidence: dict[str, int | float | str] = {
        "earlier_pass_trains": "others",
        "mixed": "once",
        "left_behind": 1,
        "edited": "what an optimizer trains",
        "parameters_alone": 1,
        "is_total": 1,
        "old_part": "a target of the loss",
    }
    asked = [each.remedy(kind, seen) for each in all_causes() for seen in ({}, evidence)]

    assert set(places(kind)) == {where for each in asked for where in each.where}


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_setting_that_a_cause_names_can_be_written(each: type[Cause]) -> None:
    """Each is written in its own manner."""
    remedy = each.remedy("setting", {})

    assert not remedy.where or remedy.target in SETTINGS


def test_source_and_recording_answer_every_question() -> None:
    """A cause may ask for any of them."""
    assert set(SIGNS) == set(typing.get_args(Sign))
    assert set(LOSSES) == set(typing.get_args(Loss))
