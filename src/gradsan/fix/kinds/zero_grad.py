"""Clear the gradients of an optimizer once for every step."""

import ast
from collections.abc import Iterator

from gradsan.fix.drafting import Draft
from gradsan.fix.kinds import Places
from gradsan.fix.program import Program
from gradsan.source.names import call_of


def _cleared(program: Program) -> Iterator[Draft]:
    """`optimizer.zero_grad()` above the pass, in the function that also makes the step; below the step as well.

    Where the two stand in different blocks, several passes may belong to one step: then below the step comes first.
    """
    parted = program.parted(program.diagnosis.used, program.diagnosis.changed)
    if parted is None:
        return
    passing, stepping = parted
    match call_of(stepping.statement):
        case ast.Call(func=ast.Attribute(value=optimizer, attr="step")):
            clearing = f"{stepping.tree.text(optimizer)}.zero_grad()"
            above, below = Draft(), Draft()
            above.insert_before(passing.tree, passing.statement, clearing)
            below.insert_after(stepping.tree, stepping.statement, clearing)
            is_one_block = passing.statement in stepping.block
            yield from (above, below) if is_one_block else (below, above)


PLACES: Places = {"later pass": _cleared}
