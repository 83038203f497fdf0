"""Values that a step moves along their own gradient, as the inner loop of meta-learning does."""

from collections.abc import Iterator

from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import argument, assigned_names, called_name, calls, loaded_names, says_false


def is_adapted(program: Program) -> bool:
    """Whether the step computes it from itself and from a gradient with respect to it, through which it trains others.

    `fast = fast - rate * grad(loss, fast, create_graph=True)[0]`: in the step before, it was adapted to something else.
    """
    diagnosis = program.diagnosis
    places = (*program.known(diagnosis.made), *program.known(diagnosis.enters))
    return any(_known_here(program, each) & set(_moved_along(each)) for each in places)


def _known_here(program: Program, place: Place) -> set[str]:
    """What the state may be called in this function: its name, and what the statement gives a value."""
    name = (program.name or "").partition("[")[0].rpartition(".")[2]
    return {name, *assigned_names(place.statement)} - {""}


def _moved_along(place: Place) -> Iterator[str]:
    """The names whose gradients the function asks for, to train through them."""
    for call in calls(place.scope):
        inputs = argument(call, "inputs") or (call.args[1] if len(call.args) > 1 else None)
        creating = argument(call, "create_graph")
        if called_name(call) == "grad" and inputs is not None and creating is not None and not says_false(creating):
            yield from loaded_names(inputs)
