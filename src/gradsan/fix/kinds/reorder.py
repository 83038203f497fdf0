"""Move an existing statement past another: a step after the pass that needs the old parameters, a look before it."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.program import Place, Program
from gradsan.lifecycle.location import Location


def drafts(program: Program) -> Iterator[Draft]:
    """GS108 reads too late; elsewhere the optimizer steps too early."""
    diagnosis = program.diagnosis
    if diagnosis.code == "GS108":
        pair = _side_by_side(program, diagnosis.used, diagnosis.freed)
        if pair is not None:
            reading, passing = pair
            draft = Draft()
            draft.remove(reading.tree, reading.statement)
            draft.insert_before(passing.tree, passing.statement, reading.statement)
            yield draft
        return
    pair = _side_by_side(program, diagnosis.changed, diagnosis.used)
    if pair is not None:
        stepping, passing = pair
        draft = Draft()
        draft.remove(stepping.tree, stepping.statement)
        draft.insert_after(passing.tree, passing.statement, stepping.statement)
        yield draft


def _side_by_side(program: Program, one: Location | None, other: Location | None) -> tuple[Place, Place] | None:
    """The statements of both in the function in which their calls part, where they stand in one block."""
    apart = program.apart(one, other)
    if apart is None:
        return None
    ours, theirs = program.places(one)[apart], program.places(other)[apart]
    if ours is None or theirs is None or not isinstance(ours.statement, cst.SimpleStatementLine):
        return None
    return (ours, theirs) if theirs.statement in ours.tree.block(ours.statement) else None
