"""Clear the gradients of an optimizer once for every step."""

import ast
from collections.abc import Iterator
from itertools import takewhile

from gradsan.fix.kinds import Places, named
from gradsan.fix.reading.flow import calls_for
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does
from gradsan.source.names import call_of, called_name
from gradsan.source.placing import code_of
from gradsan.source.tree import Statement


def _cleared(program: Program, optimizer: str) -> Iterator[Draft]:
    """`optimizer.zero_grad()` above the pass, in the function that also makes the step; below the step as well.

    Where the two stand in different blocks, several passes may belong to one step: then below the step comes first.
    """
    both = program.parted(program.diagnosis.used, program.diagnosis.changed)
    if both is None or not calls_for(both[1].statement, "steps"):
        return
    passing, stepping = both
    clearing = f"{optimizer}.zero_grad()"
    above = Draft().insert_before(passing.tree, passing.statement, clearing)
    below = Draft().insert_after(stepping.tree, stepping.statement, clearing)
    is_one_block = passing.statement in stepping.block
    yield from (above, below) if is_one_block else (below, above)


def _cleared_for_its_own_pass(program: Program, optimizer: str) -> Iterator[Draft]:
    """`optimizer.zero_grad()` above the first pass of its own loss: what stands above another's pass comes down."""
    both = program.parted(program.diagnosis.enters, program.diagnosis.changed)
    if both is None or not calls_for(both[1].statement, "steps"):
        return
    passing, _ = both
    clearing = f"{optimizer}.zero_grad()"
    draft = Draft().insert_before(passing.tree, _first_of_its_own(passing), clearing)
    yield draft.remove(passing.tree, *(each for each in passing.above if passing.text(each) == clearing))


def _cleared_below_the_step(program: Program) -> Iterator[Draft]:
    """What clears between two passes for one step goes below that step."""
    passing, stepping = program.innermost(program.diagnosis.used), program.innermost(program.diagnosis.changed)
    if passing is None or stepping is None or not calls_for(stepping.statement, "steps"):
        return
    clearing = next((each for each in reversed(passing.above) if _clears_for(each, stepping)), None)
    if clearing is not None:
        draft = Draft().remove(passing.tree, clearing)
        yield draft.insert_after(stepping.tree, stepping.statement, code_of(passing.tree, clearing))


def _clears_for(statement: Statement, stepping: Place) -> bool:
    """Whether it clears the optimizer that steps there, by the same name."""
    match call_of(statement), call_of(stepping.statement):
        case ast.Call(func=ast.Attribute(value=cleared)) as call, ast.Call(func=ast.Attribute(value=stepped)):
            return does(called_name(call), "clears") and ast.unparse(cleared) == ast.unparse(stepped)
    return False


def _first_of_its_own(passing: Place) -> Statement:
    """The first pass since another optimizer has stepped."""
    since = takewhile(lambda each: not calls_for(each, "steps"), reversed(passing.above))
    asking = [each for each in since if calls_for(each, "walks")]
    return [passing.statement, *asking][-1]


PLACES: Places = {
    **named({"later pass": _cleared, "own pass": _cleared_for_its_own_pass}),
    "between passes": _cleared_below_the_step,
}
