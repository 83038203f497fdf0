"""Below the step, with the new parameters: the lines from a network's output to the loss, or what is handed on."""

import ast
from collections.abc import Iterator, Sequence

from gradsan.fix.reading.flow import dependents, leading_to, made_of
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import assigned_names, calls, loaded_names
from gradsan.source.placing import code_of
from gradsan.source.tree import Loop, Statement, same_as


def after_the_step(program: Program) -> Iterator[Draft]:
    """The lines that lead to the loss: right above the pass, where the network has changed in between, in one block.

    One line that others need where it stands is written out instead, in the call that asks for the pass.
    """
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is None or parted[1].statement not in parted[0].below:
        return
    creating, passing = parted
    between = creating.below[: creating.below.index(passing.statement)]
    if _steps_elsewhere(program, creating, between):  # an earlier iteration did
        return
    again = [creating.statement, *on_the_path(creating.statement, between, passing.statement)]
    again = _with_all_that_follows(again, between) or again
    moved = _needed_no_more(again, between)
    if not all(isinstance(each, ast.Assign) for each in again) or (len(again) == 1 and not moved):
        return
    codes = [code_of(creating.tree, each, comments=False) for each in again]
    draft = Draft().remove(creating.tree, *moved)
    yield draft.insert_before(creating.tree, passing.statement, *codes)


def _steps_elsewhere(program: Program, creating: Place, between: Sequence[Statement]) -> bool:
    """Whether the step stands in the block of the two, but not between them."""
    apart = program.apart(program.diagnosis.made, program.diagnosis.used)
    stepping = program.at(program.diagnosis.changed, apart or 0)
    return stepping is not None and stepping.statement in creating.block and stepping.statement not in between


def on_the_path(first: Statement, between: Sequence[Statement], last: Statement) -> list[Statement]:
    """Of the statements between two, those through which the last depends on the first."""
    return leading_to(loaded_names(last), made_of(assigned_names(first), between))


def _with_all_that_follows(again: Sequence[Statement], between: Sequence[Statement]) -> list[Statement]:
    """The same with every assignment that depends on one of them, where nothing else does: then none runs twice."""
    following = dependents(again[0], between)
    is_movable = all(isinstance(each, ast.Assign) for each in following)
    return list(following) if is_movable else []


def _needed_no_more(again: Sequence[Statement], between: Sequence[Statement]) -> list[Statement]:
    """Those that nobody else needs where they stand."""
    kept = [each for each in between if each not in again]
    found: list[Statement] = []
    for each in reversed(again):
        (kept if loaded_names(kept) & assigned_names(each) else found).append(each)
    return found


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
            yield Draft().replace(stepping.tree, handing, f"{name} = {stepping.text(value)}")


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
