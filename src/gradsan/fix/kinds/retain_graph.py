"""Keep the graph for the later pass: `retain_graph=True` on the earlier one, and never on the last."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import text
from gradsan.fix.passes import argument, pass_call, with_argument
from gradsan.fix.program import Place, Program, frames


def drafts(program: Program) -> Iterator[Draft]:
    """The innermost call that can take the argument: a wrapper that hands its own on is told by its caller."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    if freed is None or used is None:
        return
    for place in reversed(program.places(freed)):
        call = None if place is None else pass_call(place.statement)
        if place is None or call is None:
            return
        if any(each.star == "**" for each in call.args):
            continue
        if argument(call, "retain_graph") is not None or argument(call, "create_graph") is not None:
            return
        repeats = frames(freed)[-1] == frames(used)[-1]
        draft = _but_the_last(place, call) if repeats else _always(place, call)
        if draft is not None:
            yield draft
        return


def _always(place: Place, call: cst.Call) -> Draft:
    draft = Draft()
    draft.replace(place.tree, call, with_argument(call, "retain_graph", "True"))
    return draft


def _but_the_last(place: Place, call: cst.Call) -> Draft | None:
    """One line asks for all passes, over the items of something that can be counted: the last one frees."""
    loops = place.tree.loops(place.statement)
    loop = loops[0] if loops else None
    if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Name):
        return None
    if not isinstance(loop.iter, cst.Name | cst.Attribute):  # anything else may be used up by counting it
        return None
    draft = Draft()
    number = "number"
    draft.replace(place.tree, loop.target, cst.parse_expression(f"{number}, {loop.target.value}"))
    draft.replace(place.tree, loop.iter, cst.parse_expression(f"enumerate({text(loop.iter)}, start=1)"))
    draft.replace(place.tree, call, with_argument(call, "retain_graph", f"{number} < len({text(loop.iter)})"))
    return draft
