"""Questions that ask for a count: `if step % 5 == 0`."""

import ast

from gradsan.fix.reading.flow import only
from gradsan.source.names import nodes, targets
from gradsan.source.tree import Tree


def asks_for_a_count(tree: Tree, guard: ast.If) -> bool:
    """Whether it takes a remainder, or compares what is counted up elsewhere and begins again in its own block."""
    asked = list(nodes(guard.test))
    if any(isinstance(each, ast.Mod) for each in asked):
        return True
    begun = {tree.text(target) for each in guard.body for target in targets(each)}
    compared = [side for each in only(ast.Compare, asked) for side in (each.left, *each.comparators)]
    return bool(_counted(tree) & begun & set(map(tree.text, compared)))


def _counted(tree: Tree) -> set[str]:
    """What the file counts up: `age += 1`."""
    found = set()
    for each in tree.statements:
        match each:
            case ast.AugAssign(target=target, op=ast.Add(), value=ast.Constant(value=int())):
                found.add(tree.text(target))
    return found
