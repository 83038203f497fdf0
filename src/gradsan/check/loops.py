"""Loops, which are followed for two iterations, and `with`."""

import ast
from collections.abc import Callable

from gradsan.check.expressions import known_truth
from gradsan.check.graph import Leaf, LoopRun, redate
from gradsan.check.items import LONGEST_UNROLLED
from gradsan.check.machine import Machine
from gradsan.check.tables import STATEMENTS, entered
from gradsan.check.values import Context, Instance, Layer, Sequence, Tensor, Value, is_exact, length_of

_FOLLOWED = 2  # iterations of a loop over what is not known
_FEW = 8  # what they leave behind is not worth a word, where it is gone after them


@entered(STATEMENTS, ast.For, ast.AsyncFor)
def for_(machine: Machine, node: ast.For | ast.AsyncFor) -> str | None:
    """One iteration for every element that is known, or two."""
    iterated = machine.evaluate(node.iter)
    elements = machine.elements(iterated, node.iter)
    if not all(map(_is_of_a_model, elements)):
        elements = elements[:LONGEST_UNROLLED]

    def begins(number: int) -> bool:
        _date(machine, iterated, number)
        machine.assign(node.target, elements[min(number, len(elements)) - 1])
        return True

    length = length_of(iterated)
    run = LoopRun(machine.site(node), is_short=length is not None and length <= _FEW)
    return _followed(machine, run, node, len(elements), begins, exact=is_exact(iterated))


@entered(STATEMENTS, ast.While)
def while_(machine: Machine, node: ast.While) -> str | None:
    """Two iterations, as long as the condition is not known to be false."""
    run = LoopRun(machine.site(node))
    return _followed(machine, run, node, _FOLLOWED, lambda _: known_truth(machine, node.test) is not False, exact=False)


def _followed(
    machine: Machine,
    run: LoopRun,
    node: ast.For | ast.AsyncFor | ast.While,
    most: int,
    begins: Callable[[int], bool],
    *,
    exact: bool,
) -> str | None:
    """Follow the iterations of a loop, each of which may begin or not, and then what comes after the last."""
    passes: list[int] = []  # how many there were before each iteration
    number = 0
    while number < most or (not exact and number == most > 0 and _shows_more(machine, run, passes)):
        number += 1
        passes.append(len(machine.world.passes))
        with machine.iteration_of(run, number):
            ended = machine.execute(node.body) if begins(number) else "over"
        if ended in _LEADING_OUT:
            return _LEADING_OUT[ended]
        if ended == "over":
            break
    return machine.execute(node.orelse)


def _shows_more(machine: Machine, run: LoopRun, passes: list[int]) -> bool:
    """Whether the last iteration did something for the first time, and the next one shows what it leaves behind.

    Its pass walked a line that none before it had walked, or what an iteration before it made.
    """
    walked_before = {op.site.node for done in machine.world.passes[passes[0] : passes[-1]] for op in done.ops}
    for done in machine.world.passes[passes[-1] :]:
        for op in done.ops:
            if op.site.node not in walked_before:
                return True
            if op.freed is done and dict(op.moment).get(run, len(passes)) < len(passes):
                return True
    return False


_LEADING_OUT = {"break": None, "return": "return", "raise": "raise"}  # how the loop ends then


def _is_of_a_model(element: Value) -> bool:
    """Modules and parameters are gone through to the last: what is done to one of them is done to all."""
    match element:
        case Sequence(kind="tuple", elements=[_, named]):
            return _is_of_a_model(named)
        case Tensor(leaf=Leaf(), op=None):
            return True
    return isinstance(element, Layer | Instance)


def _date(machine: Machine, iterated: Value, number: int) -> None:
    """What a generator created for this iteration is created now."""
    batches = iterated.created_for if isinstance(iterated, Sequence) else []
    for op in batches[number - 1] if number <= len(batches) else ():
        redate(op, machine.world.moment)
        machine.world.created_at[id(op.site.node)].append(machine.world.moment)


@entered(STATEMENTS, ast.With, ast.AsyncWith)
def with_(machine: Machine, node: ast.With | ast.AsyncWith) -> str | None:
    """A context may switch the recording of graphs, until its end."""
    with machine.recording_restored():
        for item in node.items:
            context = machine.evaluate(item.context_expr)
            if isinstance(context, Context):
                machine.switch_recording(context, item.context_expr)
            if item.optional_vars is not None:
                given = context.given if isinstance(context, Context) else None
                machine.assign(item.optional_vars, given or context)
        return machine.execute(node.body)
