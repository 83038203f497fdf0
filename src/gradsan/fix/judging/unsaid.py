"""What a program does not say about its gradients, though a fix has to mean one thing: the choice is its author's."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.causes.meaning import Meaning
from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.averages import averaging
from gradsan.fix.reading.counts import asks_for_a_count
from gradsan.fix.reading.flow import ending, is_cut_copy, last_part, only, value_of
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.resets import left_open
from gradsan.fix.reading.uses import loads, use_of
from gradsan.knowledge.tensors import operation
from gradsan.source.names import (
    argument,
    assigned_names,
    assigns,
    called_name,
    calls,
    loaded_names,
    nodes,
    says_false,
    says_true,
    targets,
)
from gradsan.source.tree import For, same_as

_OF_AN_AVERAGE = "only its author knows whether the average is a constant, or this step's part of it is trained"
_OF_SEVERAL_PASSES = "only its author knows whether each backward() was to have a step of its own"
_OF_A_TARGET = "only its author knows whether both losses are to have the same values, from before the step"
_SHUFFLING = frozenset({"randperm", "permutation", "RandomSampler", "WeightedRandomSampler"})


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What is open, in a clause; `other`: only where a run of that meaning trains as much, and otherwise."""

    why: str
    other: Meaning | None = None


def unsaid(program: Program, meaning: Meaning) -> Unsaid | None:
    """What else could be meant than a meaning; None: the program says it, or it makes no difference."""
    begins_again = _what_may_begin_again(program) if meaning == "cut" else None
    if begins_again is not None:
        return Unsaid(begins_again)
    if meaning in ("again", "beside") and _is_also_a_target(program):
        return Unsaid(_OF_A_TARGET)
    if meaning == "gathered" and not _is_accumulated(program):
        return Unsaid(_OF_SEVERAL_PASSES)
    is_average = meaning in ("cut", "beside") and averaging(program) is not None
    return Unsaid(_OF_AN_AVERAGE, "stored") if is_average else None


def _what_may_begin_again(program: Program) -> str | None:
    """Why a step may not be meant to begin with what the one before it left, in a clause; None: nothing says so."""
    written = left_open(program)
    if written is not None:
        return written
    if _is_adapted(program):
        return f"only its author knows whether `{program.name}` is to be carried on, or adapted in each step alone"
    if _comes_in_random_order(program) and _is_recurrent(program) and averaging(program) is None:
        return f"the batches come in a random order, and only its author knows what `{program.name}` is to carry on"
    return None


def _is_adapted(program: Program) -> bool:
    """Whether the step moves it along its own gradient, through which it trains others, as an inner loop does.

    `fast = fast - rate * grad(loss, fast, create_graph=True)[0]`: in the step before, it was adapted to something else.
    """
    name = last_part(program.name)
    places = (*program.known(program.diagnosis.made), *program.known(program.diagnosis.enters))
    return any({name, *assigned_names(each.statement)} & set(_moved_along(each)) for each in places)


def _moved_along(place: Place) -> Iterator[str]:
    """The names whose gradients the function asks for, to train through them."""
    for call in calls(place.scope):
        inputs = argument(call, "inputs") or next(iter(call.args[1:]), None)
        creating = argument(call, "create_graph")
        is_trained_through = creating is not None and not says_false(creating)
        if called_name(call) == "grad" and inputs is not None and is_trained_through:
            yield from loaded_names(inputs)


def _comes_in_random_order(program: Program) -> bool:
    """Whether the loop that asks for the passes takes batches in an order that is drawn: none follows the one before.

    Not the pieces of one that was drawn by a loop around it.
    """
    place = program.in_a_loop(program.diagnosis.used)
    loop = None if place is None else place.loops[0]
    if place is None or not isinstance(loop, For):
        return False
    names = {ending(each) for each in nodes(loop.iter)} - {"", "self"}
    given = only(ast.Assign, place.tree.statements)
    behind = [each.value for each in given if names & set(map(ending, targets(each)))]
    return any(
        called_name(call) in _SHUFFLING or says_true(argument(call, "shuffle")) for call in calls([loop.iter, *behind])
    )


def _is_recurrent(program: Program) -> bool:
    """Whether a network computes what is carried on from what was: the order matters to it.

    An average, a queue or a bank of values is the same in any order, or nearly so.
    """
    name = program.name
    use = None if name is None else use_of(program, name)
    if name is None or use is None or not _leads_to(use, name):
        return False
    around = (outer for load in loads(use.statement, name) for outer in use.tree.above(load))
    return any(map(_computes_from_it, around))


def _leads_to(use: Place, name: str) -> bool:
    """Whether a statement gives the state its next value, itself or by a name that is put there."""
    stored = [each.value for each in only(ast.Assign, use.tree.statements) if assigns(each, name)]
    return name in use.targets or any(use.text(value) in use.targets for value in stored)


def _computes_from_it(node: ast.AST) -> bool:
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    return is_product or (isinstance(node, ast.Call) and operation(called_name(node)).name != called_name(node))


def _is_also_a_target(program: Program) -> bool:
    """Whether a loss above the step that came too early has taken the value, cut off, for its own target.

    Computed again below the step, it is another value than the one which the first loss was after.
    """
    changing, name = program.innermost(program.diagnosis.changed), program.name or ""
    return changing is not None and any(is_cut_copy(call, name) for call in calls(changing.above))


def _is_accumulated(program: Program) -> bool:
    """Whether the gradients of several passes are to add up: the step waits for a count, or each loss is a share.

    Else the step may only stand outside of a loop in which it was to be.
    """
    steps, passing = program.inward(program.diagnosis.changed), program.innermost(program.diagnosis.used)
    waits = any(asks_for_a_count(each.tree, guard) for each in steps for guard in each.questions)
    return waits or (passing is not None and _takes_a_share(passing))


def _takes_a_share(passing: Place) -> bool:
    """`(loss / parts).backward()`, or `loss = … / parts` above."""
    match pass_call(passing.statement):
        case ast.Call(func=ast.Attribute(value=ast.BinOp() as root)):
            return _is_share(root) or isinstance(root.op, ast.Mult)
        case ast.Call(func=ast.Attribute(value=root)):
            values = (_given_to(passing.text(root), each) for each in reversed(passing.above))
            return _is_share(next(filter(None, values), root))
    return False


def _given_to(name: str, statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.AugAssign(target=target, op=op, value=value) if same_as(target, name):
            return ast.BinOp(target, op, value)
    return value_of(name, statement)


def _is_share(value: ast.expr) -> bool:
    """What is divided by the size of a batch is a mean, and no share."""
    match value:
        case ast.BinOp(op=ast.Div(), right=ast.Name() | ast.Attribute() | ast.Constant()):
            return True
    return False
