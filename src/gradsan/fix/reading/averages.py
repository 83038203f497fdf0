"""Averages that are carried on: the program may say that they are constants, or not say whether they are trained."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import cuts, ending, last_part, names_in, only
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import called_name, calls, nodes, targets
from gradsan.source.tree import Statement

_MIXING = frozenset({"lerp", "mul", "add", "sub", "div"})
_TAKING = frozenset({"get", "pop", "setdefault"})  # an item of a container
_ROUNDED = 1e-9


def averaging(program: Program) -> Place | None:
    """The statement that computes a state from itself and something new: `mean = 0.9 * mean + 0.1 * x.mean()`."""
    last = last_part(program.name)
    known = (*program.inward(program.diagnosis.enters), *program.inward(program.diagnosis.made)) if last else ()
    return next((each for each in known if _averages(each, last) and not _recurs(program, each)), None)


def is_cut_elsewhere(program: Program, place: Place) -> bool:
    """Whether other statements give it values without a graph that have one: `mean = x.mean().detach()`."""
    cutting = (each for each in place.tree.statements if cuts(each) and each is not place.statement)
    return any(_gives(each, last_part(program.name)) for each in cutting)


def is_statistic(program: Program, place: Place) -> bool:
    """Whether it is an exponential average beside the network: the weights of old and new add up to one."""
    is_beside = program.diagnosis.evidence.get("old_part") == "an average beside the network"
    return is_beside and isinstance(place.statement, ast.Assign) and _is_exponential(place.statement.value)


def _recurs(program: Program, place: Place) -> bool:
    """Whether a loop within the step computes it from itself again and again, as a recurrent cell does.

    A loop over tasks or layers, which gives each an average of its own, computes none of them twice.
    """
    around = [loop for each in program.known(program.diagnosis.used) for loop in each.loops]
    own = names_in(targets(place.statement))
    within = (loop for loop in place.loops if loop not in around)
    return any(own.isdisjoint(names_in(getattr(loop, "target", ()))) for loop in within)


def _is_exponential(value: ast.expr) -> bool:
    """`keep * old + (1 - keep) * new`, `0.9 * old + 0.1 * new`, `old.lerp(new, 0.1)`."""
    match value:
        case ast.Call():
            return called_name(value) == "lerp"
        case ast.BinOp(left=ast.BinOp(op=ast.Mult()) as left, op=ast.Add(), right=ast.BinOp(op=ast.Mult()) as right):
            pairs = ((one, other) for one in (left.left, left.right) for other in (right.left, right.right))
            return any(_add_up_to_one(one, other) or _add_up_to_one(other, one) for one, other in pairs)
    return False


def _add_up_to_one(one: ast.expr, other: ast.expr) -> bool:
    match one, other:
        case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub(), right=part), _:
            return ast.unparse(part) == ast.unparse(other)
        case ast.Constant(value=float() as first), ast.Constant(value=float() as second):
            return abs(first + second - 1) < _ROUNDED
    return False


def _averages(place: Place, last: str) -> bool:
    """By its name, or by that of what the function has taken it out of."""
    taken = list(_taken(place))
    known_as = (last, *(holder for name, holder in taken if name == last))
    return any(_mixes(place.statement, each, {name for name, holder in taken if holder == each}) for each in known_as)


def _mixes(statement: Statement, last: str, standing: set[str]) -> bool:
    """Whether it gives it a value that is made of what it was, as it is: by no call but those that mix."""
    if not isinstance(statement, ast.Assign) or not _gives(statement, last):
        return False
    value, inside = statement.value, calls(statement.value)
    others = [each for each in inside if called_name(each) not in _MIXING]
    read = {
        each
        for each in nodes(value)
        if isinstance(each, ast.Name | ast.Attribute) and ending(each) in {last, *standing}
    }
    is_mixed = isinstance(value, ast.BinOp) or (value in inside and value not in others)
    return is_mixed and bool(read) and read.isdisjoint(nodes(others))


def _gives(statement: Statement, last: str) -> bool:
    return last in map(ending, targets(statement))


def _taken(place: Place) -> Iterator[tuple[str, str]]:
    """Names of the function that stand for something, or for an item of it: `past = self.means.get(task, new)`."""
    for each in place.own:
        match each:
            case ast.Assign(targets=[*names], value=ast.Call(func=ast.Attribute(value=holder, attr=attr))) if (
                attr in _TAKING
            ):
                pass
            case ast.Assign(targets=[*names], value=(ast.Name() | ast.Attribute() | ast.Subscript()) as holder):
                pass
            case _:
                continue
        yield from ((name.id, ending(holder)) for name in only(ast.Name, names))
