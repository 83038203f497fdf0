"""What a program cuts itself, or begins anew: a name that carries no graph into the next iteration."""

import ast

from gradsan.fix.reading.flow import cuts
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import assigned_names, assigns, loaded


def carries_nothing(program: Program, name: str) -> bool:
    """Whether its graph ends with the iteration: the program cuts it below the pass, or creates it before reading it.

    One statement may give values to two names, of which only one is carried: `params[k], state[k] = step(…)`.
    """
    place = next((each for each in program.boundaries() if each.loops), None)
    if place is None or not name.isidentifier():
        return False
    return _is_cut_below(place, name) or (_is_created_first(place, name) and not _is_handed_on(place, name))


def _is_cut_below(place: Place, name: str) -> bool:
    """Whether the last statement below the pass that gives it a value gives it one without a graph."""
    writing = [each for each in place.below if name in assigned_names(each)]
    return bool(writing) and assigns(writing[-1], name) and cuts(writing[-1])


def _is_created_first(place: Place, name: str) -> bool:
    """Whether the first statement of the loop that has it gives it a value, whatever it had before."""
    body = place.loops[0].body
    first = next((each for each in body if name in assigned_names(each) or loaded(each, name)), None)
    return isinstance(first, ast.Assign) and not loaded(first, name)


def _is_handed_on(place: Place, name: str) -> bool:
    """Whether something below the pass reads it, and keeps its graph."""
    return any(loaded(each, name) and not cuts(each) for each in place.below)
