"""Clear the gradients of an optimizer before the first pass of its step."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import call_of, text
from gradsan.fix.program import Program


def drafts(program: Program) -> Iterator[Draft]:
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
        case cst.Call(func=cst.Attribute(value=optimizer, attr=cst.Name(value="step"))):
            draft = Draft()
            draft.insert_before(above.tree, above.statement, f"{text(optimizer)}.zero_grad()")
            yield draft
