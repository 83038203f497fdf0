"""Averages that are carried on: the program may say that they are constants, or not say whether they are trained."""

import ast
from collections.abc import Iterator

from gradsan.fix.flow import cuts
from gradsan.fix.program import Place, Program
from gradsan.source.names import called_name, nodes, targets
from gradsan.source.tree import Statement, Tree

_MIXING = frozenset({"lerp", "mul", "add", "sub", "div"})


def averaging(program: Program) -> Place | None:
    """The statement that computes a state from itself and something new: `mean = 0.9 * mean + 0.1 * x.mean()`."""
    known = (*program.inward(program.diagnosis.enters), *program.inward(program.diagnosis.made))
    return next((each for each in known if _averages(each, _last(program.name))), None)


def is_cut_elsewhere(program: Program, place: Place) -> bool:
    """Whether other statements give it values without a graph that have one: `mean = x.mean().detach()`."""
    given = _given(place.tree, _last(program.name))
    return any(cuts(each) or _is_cut_copy(each) for each in given if each is not place.statement)


def _last(name: str | None) -> str:
    """`value` of `self.anchor.value`."""
    return "" if name is None else name.partition("[")[0].rpartition(".")[2]


def _averages(place: Place, last: str) -> bool:
    if not last or not isinstance(place.statement, ast.Assign) or place.statement not in _given(place.tree, last):
        return False
    value = place.statement.value
    mixes = isinstance(value, ast.BinOp) or (isinstance(value, ast.Call) and called_name(value) in _MIXING)
    read = list(_read(value, last))
    calls = [each for each in nodes(value) if isinstance(each, ast.Call) and called_name(each) not in _MIXING]
    return mixes and bool(read) and not any(each in set(nodes(call)) for call in calls for each in read)


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
