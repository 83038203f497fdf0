"""What was drawn from a distribution on the way: it is a record of what was done."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import owners
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import targets


def was_drawn_along(program: Program) -> Iterator[Program]:
    """The edges into what was created by a function that draws from what a network gave: `action = policy(x).sample()`.

    A buffer that is handed on has a method of that name, too.
    """
    for each in (program, *program.others()):
        if any(map(_draws_from_what_it_computes, each.apart_from_the_pass(each.diagnosis.made))):
            yield each


def _draws_from_what_it_computes(place: Place) -> bool:
    computed = {place.text(each) for statement in place.own for each in targets(statement)}
    return any(isinstance(each, ast.Call) or place.text(each) in computed for each in owners(place.own, "draws"))
