"""Copies of what is read of a tensor that a statement writes into."""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import method
from gradsan.source.names import nodes, targets
from gradsan.source.tree import Statement


def read_as_copies(place: Place) -> Iterator[Draft]:
    """What the function reads of what a statement writes into: in one statement, and then in all of them."""
    edited = list(map(root_of, written_into([place])))
    read = [[part for part in parts_read(each) if root_of(part) in edited] for each in place.own]
    yield from (copied(place, each) for each in filter(None, read))
    yield copied(place, chain.from_iterable(read))


def parts_read(statement: Statement) -> list[ast.Subscript]:
    """`table[i, j]`, wherever it is read; of `rows[i][j]` the whole."""
    found = only(ast.Subscript, nodes(statement, into_functions=False))
    inner = {each.value for each in found}
    return [each for each in found if isinstance(each.ctx, ast.Load) and each not in inner]


def copied(place: Place, read: Iterable[ast.expr]) -> Draft:
    """Each of these as a copy."""
    return Draft().replace_each(place.tree, {each: method(place.text(each), "clone") for each in read})


def written_into(places: Iterable[Place]) -> list[ast.expr]:
    """What a statement edits in place: `table` of `table[i] = x`, of `table += x` and of `table.add_(x)`."""
    found: list[ast.expr] = []
    for place in places:
        found += [each.value for each in only(ast.Subscript, targets(place.statement))]
        match place.statement:
            case ast.AugAssign(target=ast.Name() | ast.Attribute() as target):
                found.append(target)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
                found.append(value)
    return found


def root_of(node: ast.expr) -> str:
    """`table` of `table[i - 1, j]`, `self.table` of `self.table[i]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node)
