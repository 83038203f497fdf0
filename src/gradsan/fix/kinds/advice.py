"""Give an optimizer the part of its model that has taken the place of another one, where both are at hand."""

from collections.abc import Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.places.replacing import optimizers_at_hand, parameter_put_by, replacing
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft


def _given_to_the_optimizer(program: Program) -> Iterator[Draft]:
    """`optimizer.add_param_group(…)` below the statement, or below a call that leads to it."""
    place = program.innermost(program.diagnosis.changed)
    is_parameter = place is not None and parameter_put_by(place.statement) is not None
    for each in replacing(program):
        new = f"[{each.part}]" if is_parameter else f"{each.part}.parameters()"
        for optimizer in optimizers_at_hand(program, each):
            code = f'{optimizer}.add_param_group({{"params": {new}}})'
            yield Draft().insert_after(each.tree, each.statement, code)


PLACES: Places = {"below the replacement": _given_to_the_optimizer}
