"""Compute a whole statement without recording it."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.program import Place, Program, parting


def drafts(program: Program) -> Iterator[Draft]:
    """The statement that makes it; for a history that is only kept, the function that measures."""
    diagnosis = program.diagnosis
    if diagnosis.code == "GS301":
        yield from _around_the_function(program)
        return
    made, used = diagnosis.made, diagnosis.used
    apart = None if made is None or used is None else parting(made, used)
    place = None if apart is None else program.places(made)[apart]
    if place is not None and isinstance(place.statement, cst.SimpleStatementLine):
        draft = Draft()
        bare = place.statement.with_changes(leading_lines=())
        block = cst.With(
            [cst.WithItem(_call())], cst.IndentedBlock([bare]), leading_lines=place.statement.leading_lines
        )
        draft.replace(place.tree, place.statement, block)
        yield draft


def _around_the_function(program: Program) -> Iterator[Draft]:
    diagnosis = program.diagnosis
    for place in (*reversed(program.places(diagnosis.held)), *reversed(program.places(diagnosis.made))):
        function = None if place is None else place.tree.scope(place.statement)
        if place is not None and isinstance(function, cst.FunctionDef) and _only_measures(place, function):
            draft = Draft()
            draft.replace(place.tree, function, function.with_changes(decorators=[*function.decorators, _decorator()]))
            yield draft
            return


def _only_measures(place: Place, function: cst.FunctionDef) -> bool:
    """Whether nothing in the function asks for a pass."""
    code = place.tree.module.code_for_node(function)
    return "backward" not in code and ".grad" not in code and ".eval()" in code


def _call() -> cst.Call:
    return cst.Call(cst.Attribute(cst.Name("torch"), cst.Name("no_grad")))


def _decorator() -> cst.Decorator:
    return cst.Decorator(_call())
