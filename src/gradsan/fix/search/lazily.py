"""What is computed for all iterations of a loop above it, computed in each of them instead."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import called_name, loaded, nodes
from gradsan.source.tree import For, Tree

_TAKE_IN_TURN = ("zip", "enumerate", "iter")


def when_it_is_taken(program: Program) -> Iterator[Draft]:
    """A list that one loop goes over is not filled before it: `[f(x) for x in xs]` in round brackets."""
    places = (*program.apart_from_the_pass(program.diagnosis.made), *program.graph_places())
    for statement, tree in {each.statement: each.tree for each in places}.items():
        for listed in nodes(statement, into_functions=False):
            if isinstance(listed, ast.ListComp) and _is_gone_over(tree, _taken(tree, listed)):
                yield Draft().replace(tree, listed, f"({tree.text(listed)[1:-1]})")


def _taken(tree: Tree, listed: ast.ListComp) -> ast.expr:
    """Where it is read, if that is under a name, and once."""
    match tree.parent(listed):
        case ast.Assign(targets=[target]) if len(reads := loaded(tree.scope(listed), tree.text(target))) == 1:
            return reads[0]
    return listed


def _is_gone_over(tree: Tree, taken: ast.expr) -> bool:
    """Whether a loop goes over it once, alone or beside others."""
    around = tree.parent(taken)
    while isinstance(around, ast.Call) and called_name(around) in _TAKE_IN_TURN:
        taken, around = around, tree.parent(around)
    return isinstance(around, For | ast.comprehension) and around.iter is taken
