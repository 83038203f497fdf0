"""Averages that are carried on: the program may say that they are constants, or not say whether they are trained."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import cuts
from gradsan.fix.reading.program import Place, Program
from gradsan.source.names import called_name, nodes, targets
from gradsan.source.tree import Loop, Statement, Tree

_MIXING = frozenset({"lerp", "mul", "add", "sub", "div"})
_TAKING = frozenset({"get", "pop", "setdefault"})  # an item of a container
_ROUNDED = 1e-9


def averaging(program: Program) -> Place | None:
    """The statement that computes a state from itself and something new: `mean = 0.9 * mean + 0.1 * x.mean()`."""
    known = (*program.inward(program.diagnosis.enters), *program.inward(program.diagnosis.made))
    averages = (each for each in known if any(_averages(each, last) for last in _known_as(each, program.name)))
    return next((each for each in averages if not _recurs(program, each)), None)


def is_cut_elsewhere(program: Program, place: Place) -> bool:
    """Whether other statements give it values without a graph that have one: `mean = x.mean().detach()`."""
    given = _given(place.tree, _last(program.name))
    return any(cuts(each) or _is_cut_copy(each) for each in given if each is not place.statement)


def is_statistic(program: Program, place: Place) -> bool:
    """Whether it is an exponential average beside the network: the weights of old and new add up to one."""
    is_beside = program.diagnosis.evidence.get("old_part") == "an average beside the network"
    return is_beside and isinstance(place.statement, ast.Assign) and _is_exponential(place.statement.value)


def _recurs(program: Program, place: Place) -> bool:
    """Whether a loop within the step computes it from itself again and again, as a recurrent cell does.

    A loop over tasks or layers, which gives each an average of its own, computes none of them twice.
    """
    around = [loop for each in program.known(program.diagnosis.used) for loop in each.loops]
    own = {each.id for target in targets(place.statement) for each in nodes(target) if isinstance(each, ast.Name)}
    within = (loop for loop in place.loops if loop not in around)
    return any(own.isdisjoint(_bound_by(loop)) for loop in within)


def _bound_by(loop: Loop) -> set[str]:
    """The names that a loop gives new values."""
    target = loop.target if isinstance(loop, ast.For | ast.AsyncFor) else None
    return set() if target is None else {each.id for each in nodes(target) if isinstance(each, ast.Name)}


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


def _last(name: str | None) -> str:
    """`value` of `self.anchor.value`."""
    return "" if name is None else name.partition("[")[0].rpartition(".")[2]


def _averages(place: Place, last: str) -> bool:
    if not last or not isinstance(place.statement, ast.Assign) or place.statement not in _given(place.tree, last):
        return False
    value = place.statement.value
    mixes = isinstance(value, ast.BinOp) or (isinstance(value, ast.Call) and called_name(value) in _MIXING)
    standing = [name for name, holder in _taken(place) if holder == last]
    read = [each for name in (last, *standing) for each in _read(value, name)]
    calls = [each for each in nodes(value) if isinstance(each, ast.Call) and called_name(each) not in _MIXING]
    return mixes and bool(read) and not any(each in set(nodes(call)) for call in calls for each in read)


def _known_as(place: Place, name: str | None) -> list[str]:
    """Its name, and that of what it is an item of where the function has taken it out."""
    last = _last(name)
    return [last, *(holder for taken, holder in _taken(place) if taken == last)]


def _taken(place: Place) -> Iterator[tuple[str, str]]:
    """Names of the function that stand for something, or for an item of it: `past = self.means.get(task, new)`."""
    for each in place.tree.statements:
        if place.tree.scope(each) is not place.scope or not isinstance(each, ast.Assign):
            continue
        holder = _holder(each.value)
        if holder is not None:
            yield from ((target.id, holder) for target in each.targets if isinstance(target, ast.Name))


def _holder(value: ast.expr) -> str | None:
    match value:
        case ast.Call(func=ast.Attribute(value=holder, attr=attr)) if attr in _TAKING:
            return _name(holder)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _name(value)
    return None


def _read(code: ast.AST, last: str) -> Iterator[ast.AST]:
    return (each for each in nodes(code) if isinstance(each, ast.Name | ast.Attribute) and _name(each) == last)


def _name(node: ast.expr) -> str:
    return _last(ast.unparse(node))


def _given(tree: Tree, last: str) -> list[Statement]:
    return [each for each in tree.statements if any(_name(target) == last for target in targets(each))]


def _is_cut_copy(statement: Statement) -> bool:
    """`points.detach().clone()`."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="clone"))):
            return cuts(ast.Return(value=inner))
    return False
