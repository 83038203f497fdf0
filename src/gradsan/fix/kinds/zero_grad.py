"""Clear the gradients of an optimizer before the first pass of its step."""

import ast
from collections.abc import Iterator

from gradsan.fix.drafting import Draft
from gradsan.fix.kinds import Places
from gradsan.fix.program import Program
from gradsan.source.names import call_of


def _cleared_above(program: Program) -> Iterator[Draft]:
    """`optimizer.zero_grad()` above the pass, in the function that also makes the step."""
    used, changed = program.diagnosis.used, program.diagnosis.changed
    if used is None or changed is None:
        return
    apart = program.apart(used, changed)
    if apart is None:
        return
    above, stepping = program.places(used)[apart], program.places(changed)[apart]
    if above is None or stepping is None:
        return
    match call_of(stepping.statement):
        case ast.Call(func=ast.Attribute(value=optimizer, attr="step")):
            draft = Draft()
            draft.insert_before(above.tree, above.statement, f"{stepping.tree.text(optimizer)}.zero_grad()")
            yield draft


PLACES: Places = {"later pass": _cleared_above}
