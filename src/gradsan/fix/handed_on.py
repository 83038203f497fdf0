"""A value that one iteration hands on to the next, computed again once a step has made it old."""

import ast
from collections.abc import Iterator

from gradsan.fix.drafting import Draft
from gradsan.fix.program import Place, Program
from gradsan.source.names import assigned_names, calls, loaded_names
from gradsan.source.tree import Loop, Statement, same_as


def computed_for_the_next(program: Program, name: str) -> Iterator[Draft]:
    """`value = later` below the step becomes `value = net(x)`, by which `later` was computed above it."""
    for place in program.inward(program.diagnosis.changed):
        for loop in place.loops[:1]:
            yield from _in_loop(place, loop, name)
            return


def _in_loop(stepping: Place, loop: Loop, name: str) -> Iterator[Draft]:
    handing = next((each for each in reversed(loop.body) if _hands(each, name) is not None), None)
    carried = None if handing is None else _hands(handing, name)
    if handing is None or carried is None or stepping.tree.line(handing) <= stepping.line:
        return
    above = loop.body[: loop.body.index(handing)]
    creating = next((each for each in reversed(above) if carried in assigned_names(each)), None)
    match creating:
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as value) if _means_the_same(value, creating, above):
            draft = Draft()
            draft.replace(stepping.tree, handing, f"{name} = {stepping.text(value)}")
            yield draft


def _hands(statement: Statement, name: str) -> str | None:
    """The variable whose value a statement gives to the name, and nothing else."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Name(id=carried)) if same_as(target, name):
            return carried
    return None


def _means_the_same(value: ast.Call, creating: Statement, above: list[Statement]) -> bool:
    """Whether nothing that it reads has got another value since; what a call changes in an object is not seen."""
    since = above[above.index(creating) + 1 :]
    return not loaded_names(value) & assigned_names(since) and len(calls(value)) == 1
