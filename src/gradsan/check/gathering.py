"""Holders that outlive an iteration and are fed with graphs: lists, dicts, totals."""

import ast

from gradsan.check.graph import Label, Op
from gradsan.check.machine import Machine
from gradsan.check.moments import is_of_earlier_iteration
from gradsan.check.troubles import Collecting
from gradsan.check.values import Value, ops_of


def gather_total(machine: Machine, target: ast.expr, value: Value) -> None:
    """`total = total + loss`: a name that takes on the graph of one more iteration."""
    op = value.op
    if op is None or not machine.world.moment:
        return
    labels = [(edge.label, edge.op) for edge in op.edges if edge.label is not None]
    text = ast.unparse(target) if labels else ""
    for label, fed in labels:
        if label.name == text and is_of_earlier_iteration(fed.moment, machine.world.moment):
            note_gathering(machine, label, op, target, total=True)


def note_gathering(machine: Machine, holder: Label, op: Op, node: ast.AST, *, total: bool = False) -> None:
    """A holder that outlives the iteration is fed with a graph."""
    run, _ = machine.world.moment[-1]
    fresh = Collecting(holder.name, holder, machine.site(node), op, run, total=total)
    known = machine.world.collecting.setdefault((id(node), id(run)), fresh)
    known.ops.append(op)
    known.op = op


def still_holds_older(machine: Machine, container: Value) -> bool:
    """Whether a container still holds the graph of an earlier iteration."""
    moment = machine.world.moment
    return bool(moment) and any(is_of_earlier_iteration(op.moment, moment) for op in ops_of(container))
