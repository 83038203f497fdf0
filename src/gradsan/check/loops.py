"""Loops, which are followed for two iterations, and `with`."""

import ast

from gradsan.check.expressions import known_truth
from gradsan.check.graph import Cut, LoopRun, redate
from gradsan.check.items import LONGEST_UNROLLED
from gradsan.check.machine import Machine
from gradsan.check.tables import STATEMENTS, entered
from gradsan.check.values import Context, Instance, Layer, Sequence, Value

_LEADING_OUT = ("return", "raise")


@entered(STATEMENTS, ast.For, ast.AsyncFor)
def for_(machine: Machine, node: ast.For | ast.AsyncFor) -> str | None:
    """One iteration for every element that is known, or two."""
    iterated = machine.evaluate(node.iter)
    run = LoopRun(machine.site(node))
    elements = machine.elements(iterated, node.iter)
    for number, element in enumerate(elements if _are_modules(elements) else elements[:LONGEST_UNROLLED], 1):
        with machine.iteration_of(run, number):
            _date(machine, iterated, number)
            machine.assign(node.target, element)
            ended = machine.execute(node.body)
        if ended == "break":
            return None
        if ended in _LEADING_OUT:
            return ended
    return machine.execute(node.orelse)


def _are_modules(elements: list[Value]) -> bool:
    """Modules are gone through to the last: what is done to one of them is done to all."""
    return all(isinstance(each, Layer | Instance) for each in elements)


def _date(machine: Machine, iterated: Value, number: int) -> None:
    """What a generator made for this iteration is made now."""
    batches = iterated.made_for if isinstance(iterated, Sequence) else []
    for op in batches[number - 1] if number <= len(batches) else ():
        redate(op, machine.world.moment)
        machine.world.made_at[id(op.site.node)].append(machine.world.moment)


@entered(STATEMENTS, ast.While)
def while_(machine: Machine, node: ast.While) -> str | None:
    """Two iterations, as long as the condition is not known to be false."""
    run = LoopRun(machine.site(node))
    for number in (1, 2):
        with machine.iteration_of(run, number):
            if known_truth(machine, node.test) is False:
                break
            ended = machine.execute(node.body)
        if ended == "break":
            return None
        if ended in _LEADING_OUT:
            return ended
    return machine.execute(node.orelse)


@entered(STATEMENTS, ast.With, ast.AsyncWith)
def with_(machine: Machine, node: ast.With | ast.AsyncWith) -> str | None:
    """A context may switch the recording of graphs, until its end."""
    with machine.recording_restored():
        for item in node.items:
            context = machine.evaluate(item.context_expr)
            if isinstance(context, Context):
                _switch(machine, context, item.context_expr)
            if item.optional_vars is not None:
                given = context.given if isinstance(context, Context) else None
                machine.assign(item.optional_vars, given or context)
        return machine.execute(node.body)


def _switch(machine: Machine, context: Context, node: ast.expr) -> None:
    if context.enables is not None:
        machine.world.recording = context.enables
        machine.world.silencer = None if context.enables else Cut(machine.site(node), context.how)
