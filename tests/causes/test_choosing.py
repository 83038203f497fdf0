"""The order of fixes is the cause's; what it asks the source for decides."""

from collections.abc import Iterable

import pytest

from gradsan.causes import cause
from gradsan.causes.choosing import is_sure, ranked
from gradsan.causes.remedy import Sign
from gradsan.report import Confidence, Diagnosis, Effects, Fix, FixKind


class Source:
    """Answers of a source that shows these signs, and has these edits and attempts."""

    def __init__(
        self, shown: Iterable[Sign] = (), writable: Iterable[FixKind] = (), tried: Iterable[FixKind] = ()
    ) -> None:
        self._shown, self._writable, self._tried = set(shown), set(writable), set(tried)

    def can_be_written(self, kind: FixKind) -> bool:
        """As it was told."""
        return kind in self._writable

    def was_tried(self, kind: FixKind) -> bool:
        """As it was told."""
        return kind in self._tried

    def shows(self, sign: Sign, kind: FixKind) -> bool:
        """As it was told; an edit that can be written is a sign, too."""
        return sign in self._shown or (sign == "it can be written" and kind in self._writable)


def diagnosis(code: str, *kinds: FixKind, confidence: Confidence = "certain") -> Diagnosis:
    """One of this cause, with these fixes."""
    known = cause(code)
    fixes = tuple(Fix(kind, "", "changes-gradients") for kind in kinds)
    return Diagnosis(code, known.name, known.severity, "run", confidence, "", fixes=fixes)


@pytest.mark.parametrize(
    ("code", "kinds", "source", "expected"),
    [
        ("GS101", ("recompute", "retain-graph"), Source(), ("retain-graph", "recompute")),
        ("GS101", ("recompute", "retain-graph"), Source(writable=["recompute"]), ("recompute", "retain-graph")),
        ("GS103", ("detach", "reset-state"), Source(), ("detach", "reset-state")),
        (
            "GS103",
            ("detach", "reset-state"),
            Source(["the program resets it elsewhere"], ["move-into-loop"]),
            ("reset-state", "detach"),
        ),
        (
            "GS103",
            ("detach", "reset-state"),
            Source(writable=["move-into-loop"]),
            ("move-into-loop", "detach", "reset-state"),  # only the source asks for it
        ),
        ("GS105", ("item", "detach"), Source(["several terms are added"]), ("reset-state", "item", "detach")),
        ("GS107", ("retain-graph", "create-graph"), Source(["a gradient enters the loss"]), ("create-graph",)),
        ("GS107", ("create-graph", "retain-graph"), Source(["no gradient enters the loss"]), ("retain-graph",)),
        ("GS201", ("recompute", "reorder", "detach"), Source(), ("recompute", "detach")),  # it would do harm
        ("GS202", ("clone", "reorder"), Source(), ("reorder", "clone")),
        ("GS304", ("combine-losses", "move-into-loop"), Source(["the loop takes batches"]), ("move-into-loop",)),
    ],
)
def test_source_decides_where_the_cause_asks_it(
    code: str, kinds: tuple[FixKind, ...], source: Source, expected: tuple[FixKind, ...]
) -> None:
    """Else the fixes stay in the order of the cause."""
    found = diagnosis(code, *kinds)

    assert tuple(fix.kind for fix in ranked(found.fixes, found, source))[: len(expected)] == expected


def test_what_was_tried_comes_before_what_the_source_speaks_for() -> None:
    """It says what is meant."""
    found = diagnosis("GS103", "detach", "reset-state")

    first, _ = ranked(found.fixes, found, Source(["the program resets it elsewhere"], tried=["detach"]))

    assert first.kind == "detach"


@pytest.mark.parametrize(
    ("code", "kind", "is_trusted"),
    [
        ("GS103", "detach", True),
        ("GS103", "reset-state", False),  # nobody can say from the source that a state is to be forgotten
        ("GS105", "item", False),
        ("GS301", "item", True),
        ("GS109", "recompute", False),
        ("GS102", "recompute", True),
        ("GS304", "combine-losses", False),
        ("GS308", "detach", False),  # the values may be meant to stay as they are, or not to
        ("GS309", "create-graph", False),  # it takes time and memory, and not every op has a second derivative
    ],
)
def test_some_fixes_are_never_made_without_a_proof(code: str, kind: FixKind, *, is_trusted: bool) -> None:
    """What the user means is not in the source."""
    found = diagnosis(code, kind)

    assert is_sure(found, found.fixes[0]) == is_trusted


def test_first_fix_of_a_certain_diagnosis_is_sure() -> None:
    """Not a later one, not one of a guess, and none after which something is no longer trained."""
    found = diagnosis("GS103", "detach", "no-grad")
    first, second = found.fixes
    cutting = Fix("detach", "", "changes-gradients", effects=Effects(parameters_cut_off=("weight",)))

    assert is_sure(found, first)
    assert not is_sure(found, second)
    assert not is_sure(found, cutting)
    assert not is_sure(diagnosis("GS103", "detach", confidence="likely"), first)
