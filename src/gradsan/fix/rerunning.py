"""The lines from a changed network's output to the loss, run again below the step: they see the new parameters."""

import ast
from collections.abc import Sequence

from gradsan.fix.drafting import Draft
from gradsan.fix.flow import dependents
from gradsan.fix.program import Place, Program
from gradsan.source.names import assigned_names, loaded_names
from gradsan.source.placing import code_of
from gradsan.source.tree import Statement


def after_the_step(program: Program) -> Draft | None:
    """Right above the pass, where the network has changed between the two in one block; None: one line leads there."""
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is None or parted[1].statement not in parted[0].below:
        return None
    creating, passing = parted
    between = creating.below[: creating.below.index(passing.statement)]
    if _steps_elsewhere(program, creating, between):  # an earlier iteration did
        return None
    again = [creating.statement, *_on_the_path(creating.statement, between, passing.statement)]
    again = _with_all_that_follows(again, between) or again
    if len(again) == 1 or not all(isinstance(each, ast.Assign) for each in again):
        return None
    draft = Draft()
    for each in _needed_no_more(again, between):
        draft.remove(creating.tree, each)
    codes = [code_of(creating.tree, each, comments=False) for each in again]
    draft.insert_before(creating.tree, passing.statement, *codes)
    return draft


def _steps_elsewhere(program: Program, creating: Place, between: Sequence[Statement]) -> bool:
    """Whether the step stands in the block of the two, but not between them."""
    apart = program.apart(program.diagnosis.made, program.diagnosis.used)
    stepping = program.at(program.diagnosis.changed, apart or 0)
    return stepping is not None and stepping.statement in creating.block and stepping.statement not in between


def _on_the_path(first: Statement, between: Sequence[Statement], last: Statement) -> list[Statement]:
    """Of the statements between two, those through which the last depends on the first."""
    needed, found = loaded_names(last), []
    for each in reversed(dependents(first, between)[1:]):
        if assigned_names(each) & needed:
            needed |= loaded_names(each)
            found.append(each)
    return found[::-1]


def _with_all_that_follows(again: Sequence[Statement], between: Sequence[Statement]) -> list[Statement]:
    """The same with every assignment that depends on one of them, where nothing else does: then none runs twice."""
    following = dependents(again[0], between)
    is_movable = all(isinstance(each, ast.Assign) for each in following)
    return list(following) if is_movable else []


def _needed_no_more(again: Sequence[Statement], between: Sequence[Statement]) -> list[Statement]:
    """Those that nobody else needs where they stand."""
    kept = [each for each in between if each not in again]
    found: list[Statement] = []
    for each in reversed(again):
        (kept if loaded_names(kept) & assigned_names(each) else found).append(each)
    return found
