"""Gradients of several passes that are to add up until one step takes them."""

import ast

from gradsan.fix.ranking import asks_for_a_count
from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import assigns


def is_accumulated(program: Program) -> bool:
    """Whether the program says so: its step waits for a count, or each loss is a share of what the step is for.

    Else the step may only stand outside of a loop in which it was to be.
    """
    steps, passes = program.inward(program.diagnosis.changed), program.inward(program.diagnosis.used)
    return any(map(_waits_for_a_count, steps)) or any(map(_takes_a_share, passes[:1]))


def _waits_for_a_count(stepping: Place) -> bool:
    guards = (each for each in stepping.tree.above(stepping.statement) if isinstance(each, ast.If))
    return any(asks_for_a_count(stepping.tree, each) for each in guards)


def _takes_a_share(passing: Place) -> bool:
    """`(loss / parts).backward()`, or `loss = … / parts` above."""
    match pass_call(passing.statement):
        case ast.Call(func=ast.Attribute(value=ast.BinOp() as root)):
            return _is_share(root) or isinstance(root.op, ast.Mult)
        case ast.Call(func=ast.Attribute(value=root)):
            values = (_value_of(each, passing.text(root)) for each in reversed(passing.above))
            return _is_share(next(filter(None, values), root))
    return False


def _value_of(statement: ast.stmt, name: str) -> ast.expr | None:
    match statement:
        case ast.Assign(value=value) if assigns(statement, name):
            return value
        case ast.AugAssign(target=target, op=op, value=value) if ast.unparse(target) == name:
            return ast.BinOp(target, op, value)
    return None


def _is_share(value: ast.expr) -> bool:
    """What is divided by the size of a batch is a mean, and no share."""
    match value:
        case ast.BinOp(op=ast.Div(), right=ast.Name() | ast.Attribute() | ast.Constant()):
            return True
    return False
