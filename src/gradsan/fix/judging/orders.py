"""In which order the iterations of a loop take what they work on, and whether it matters to what they carry on."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.uses import loads, use_of
from gradsan.knowledge.tensors import operation
from gradsan.source.names import argument, assigns, called_name, calls, last_name, nodes, says_true, targets

_SHUFFLING = frozenset({"randperm", "permutation", "RandomSampler", "WeightedRandomSampler"})


def comes_in_random_order(program: Program) -> bool:
    """Whether the loop that asks for the passes takes batches in an order that is drawn: none follows the one before.

    Not the pieces of one that was drawn by a loop around it.
    """
    place = program.in_a_loop(program.diagnosis.used)
    match place, place and place.loops[0]:
        case Place(), ast.For(iter=taken) | ast.AsyncFor(iter=taken):
            return any(map(_is_shuffled, (taken, *_behind(place, taken))))
    return False


def is_recurrent(program: Program) -> bool:
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
    stored = [each.value for each in use.tree.statements if isinstance(each, ast.Assign) and assigns(each, name)]
    return name in use.targets or any(use.text(value) in use.targets for value in stored)


def _computes_from_it(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call():
            return operation(called_name(node)).name != called_name(node)
    return False


def _behind(place: Place, taken: ast.expr) -> Iterator[ast.expr]:
    """What the file assigns to the names that are read there."""
    names = {last_name(each) for each in nodes(taken) if isinstance(each, ast.Name | ast.Attribute)} - {"", "self"}
    for statement in place.tree.statements:
        match statement:
            case ast.Assign(value=value) if names & set(map(last_name, targets(statement))):
                yield value


def _is_shuffled(value: ast.expr) -> bool:
    return any(called_name(call) in _SHUFFLING or says_true(argument(call, "shuffle")) for call in calls(value))
