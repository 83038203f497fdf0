"""Names that are one state: what a statement takes out of one value together, and a later forward reads together."""

import ast

from gradsan.facts.held import NOTHING, Held
from gradsan.fix.reading.cut_already import carries_nothing
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_above, was_seen
from gradsan.fix.reading.uses import loads
from gradsan.fix.writing.cutting import detach_here
from gradsan.fix.writing.drafting import Draft
from gradsan.source.tree import Statement


def cut_with_siblings(program: Program, use: Place, name: str, draft: Draft) -> bool:
    """Every reading of it, and of its other halves; whether that can be written."""
    taken_for = dict.fromkeys(_siblings(program, name, use), _unseen(program, name, use))
    return all(
        detach_here(program, use, load, draft, like)
        for each, like in {name: NOTHING, **taken_for}.items()
        for load in loads(use.statement, each)
    )


def _unseen(program: Program, name: str, use: Place) -> Held:
    """What the other halves of a state are taken for: what the run saw the named one to be."""
    return held_above(program, use.tree, use.statement, name) if was_seen(program, name) else NOTHING


def _siblings(program: Program, name: str, use: Place) -> list[str]:
    """The names that the creating statement takes out of one value together with it, and that are read beside it."""
    here = [each for each in program.known(program.diagnosis.made) if each.function == use.function]
    creating = next((each for each in here if name in each.targets), None)
    if (
        creating is None
        or _assigns_several(creating.statement)
        or (creating.line < use.line and not program.remedy.with_siblings)
    ):
        return []  # no state that is carried on, but several outputs of this step
    beside = (each for each in creating.targets if each != name and loads(use.statement, each))
    return [each for each in beside if not carries_nothing(program, each)]


def _assigns_several(statement: Statement) -> bool:
    """Whether it only saves lines: `a, b = first(x), second(x)`."""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple)
