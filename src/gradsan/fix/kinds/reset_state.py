"""Give carried state its initial value at the step's boundary."""

import ast
from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import loaded, simple, text
from gradsan.fix.program import Program


def drafts(program: Program) -> Iterator[Draft]:
    """Below the pass: what the program itself gave it in the beginning."""
    diagnosis = program.diagnosis
    if diagnosis.code == "GS101":
        yield from _emptied(program)
        return
    if diagnosis.culprit is None or diagnosis.enters is None:
        return
    name = diagnosis.culprit.name
    for place in reversed(program.places(diagnosis.used)):
        if place is None or isinstance(simple(place.statement), cst.Return):
            continue
        reached_here = diagnosis.evidence.get("reached_in") == place.frame.function
        reached = str(diagnosis.evidence["reached_as"]) if reached_here else name
        source = program.source(diagnosis.enters.file)
        initial = None if source is None else _initial(source.tree, name)
        if initial is None or (not reached_here and place.frame.function != diagnosis.enters.function):
            continue
        if reached != name and "self" in initial:
            initial = initial.replace("self.", f"{reached.rpartition('.')[0]}.")
        draft = Draft()
        draft.insert_after(place.tree, place.statement, f"{reached} = {initial}")
        yield draft
        return


def _emptied(program: Program) -> Iterator[Draft]:
    """The list whose losses a loop back-propagates, below that loop."""
    for place in reversed(program.places(program.diagnosis.used)):
        loops = [] if place is None else place.tree.loops(place.statement)
        if place is None or not loops:
            continue
        loop = loops[0]
        match loop:
            case cst.For(target=cst.Name(value=name), iter=cst.Attribute() as losses) if loaded(place.statement, name):
                draft = Draft()
                draft.insert_after(place.tree, loop, f"{text(losses)}.clear()")
                yield draft
        return


def _initial(tree: ast.Module, name: str) -> str | None:
    """What the file first assigns to it, where that needs nothing but the object itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == name for each in node.targets):
            names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
            return ast.unparse(node.value) if names <= {"torch", "self"} else None
    return None
