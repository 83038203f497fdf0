"""Move an existing statement past another: a step after the pass that needs the old parameters, a look before it."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import call_of, text
from gradsan.fix.program import Place, Program
from gradsan.fix.tree import Statement
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
        block = list(stepping.tree.block(stepping.statement))
        step, later = block.index(stepping.statement), block.index(passing.statement)
        draft = Draft()
        for each in [stepping.statement, *_clearings(stepping.statement, block[step + 1 : later])]:
            draft.remove(stepping.tree, each)
        if not any(
            _is_same_call(stepping.statement, each) for each in block[later + 1 :]
        ):  # else it steps there anyway
            draft.insert_after(passing.tree, passing.statement, stepping.statement)
        yield draft


def _clearings(step: Statement, between: list[Statement]) -> list[Statement]:
    """Calls that would clear what the earlier pass gave, before the step has taken it."""
    optimizer = _receiver(step)
    return [each for each in between if optimizer is not None and _called(each) == (optimizer, "zero_grad")]


def _is_same_call(one: Statement, other: Statement) -> bool:
    return _called(one) is not None and _called(one) == _called(other)


def _receiver(statement: Statement) -> str | None:
    called = _called(statement)
    return None if called is None else called[0]


def _called(statement: Statement) -> tuple[str, str] | None:
    """The object and the method of `object.method(…)`."""
    match call_of(statement):
        case cst.Call(func=cst.Attribute(value=owner, attr=name)):
            return text(owner), name.value
    return None


def _side_by_side(program: Program, one: Location | None, other: Location | None) -> tuple[Place, Place] | None:
    """The statements of both in the function in which their calls part, where they stand in one block."""
    apart = program.apart(one, other)
    if apart is None:
        return None
    ours, theirs = program.places(one)[apart], program.places(other)[apart]
    if ours is None or theirs is None or not isinstance(ours.statement, cst.SimpleStatementLine):
        return None
    return (ours, theirs) if theirs.statement in ours.tree.block(ours.statement) else None
