"""The statements that lead to a loss, made once more right above its pass; where they stood, they stay."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.fix.places.rerunning import on_the_path
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.changes import Changes
from gradsan.source.names import loaded_names, targets
from gradsan.source.placing import indentation, outdented
from gradsan.source.tree import Statement, Tree


def right_above_the_pass(program: Program) -> Iterator[Draft]:
    """From the one that computes it to the pass; of several things that a statement gives, those that the pass needs.

    What else it gives may have been trained on, and logged: it stays what it was.
    """
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is None or parted[1].statement not in parted[0].below:
        return
    creating, passing = parted
    between = creating.below[: creating.below.index(passing.statement)]
    again = [creating.statement, *on_the_path(creating.statement, between, passing.statement)]
    if not all(isinstance(each, ast.Assign) for each in again):
        return
    draft = Draft()
    needed = loaded_names([*again[1:], passing.statement])
    draft.insert_before(creating.tree, passing.statement, *_codes(creating.tree, again, needed))
    yield draft


def _codes(tree: Tree, again: Sequence[Statement], needed: set[str]) -> Iterator[str]:
    """Their text; a name that nobody needs becomes `_`."""
    for each in again:
        changes = Changes()
        several = targets(each) if len(targets(each)) > 1 else []
        unneeded = [part for part in only(ast.Name, several) if part.id not in needed]
        changes.replaced |= dict.fromkeys(unneeded, "_")
        yield outdented(changes.new_part(tree, each), indentation(tree, each))
