"""Remove or replace the call that cuts the graph."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import nodes
from gradsan.fix.passes import called_name
from gradsan.fix.program import Place, Program


def drafts(program: Program) -> Iterator[Draft]:
    """At the line that cut it: the innermost one that says so."""
    for place in reversed(program.places(program.diagnosis.cut)):
        if place is not None and (draft := _joined_up(place)) is not None:
            yield draft
            return


def _joined_up(place: Place) -> Draft | None:
    draft = Draft()
    found = list(nodes(place.statement, into_functions=False))
    if any(isinstance(each, cst.Call) and called_name(each) in {"numpy", "tolist"} for each in found):
        return None  # whatever goes into NumPy loses its history there
    for node in found:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="detach" | "item")), args=[]):
                draft.replace(place.tree, node, value)
                return draft
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="sample") as name)):
                draft.replace(place.tree, name, cst.Name("rsample"))
                return draft
            case cst.Attribute(value=value, attr=cst.Name(value="data")):
                draft.replace(place.tree, node, value)
                return draft
    return _unwrapped(place)


def _unwrapped(place: Place) -> Draft | None:
    """`with torch.no_grad():` around a single statement."""
    for node in place.tree.above(place.statement):
        if isinstance(node, cst.With) and "no_grad" in place.tree.module.code_for_node(node.items[0].item):
            first, *others = node.body.body
            draft = Draft()
            draft.replace(place.tree, node, first.with_changes(leading_lines=node.leading_lines))
            draft.insert_after(place.tree, node, *others)
            return draft
        if isinstance(node, cst.FunctionDef):
            return None
    return None
