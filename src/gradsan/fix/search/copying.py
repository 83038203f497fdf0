"""Copies of whatever the saving statement reads, and of whatever the editing statement writes into.

Where a run has not shown these two, any statement of the files that the failing pass was asked from may be one of them.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from gradsan.facts.location import Location
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.search.cutting import read_by
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import method
from gradsan.knowledge.tensors import has_twin
from gradsan.source.names import nodes, targets
from gradsan.source.tree import Statement, is_simple


def of_what_is_saved_or_edited(program: Program) -> Iterator[Draft]:
    """Of what bears the name of what is edited first; then of each thing that is read; then of what is written into."""
    saving, editing = (_innermost(program, each) for each in (program.diagnosis.made, program.diagnosis.changed))
    edited = list(map(_root, _written_into(editing)))
    for place in saving:
        read = [each for each in read_by(place.statement) if not isinstance(each, ast.Call)]
        yield _copied(place, [each for each in read if _root(each) in edited])
        yield _copied(place, read)
        yield from (_copied(place, [each]) for each in read)
    for place in editing or _all_that_edit(program):
        yield from _read_as_copies(place)
        for base in dict.fromkeys(map(_root, _written_into([place]))):
            yield _written_into_a_copy(place, base, [])
            own = [each for each in _parts_read(place.statement) if _root(each) == base]
            if own:
                yield _written_into_a_copy(place, base, own)


def _written_into_a_copy(place: Place, base: str, read: Iterable[ast.expr]) -> Draft:
    """What has the name is a copy from here on; what the statement itself reads of it is another."""
    return _copied(place, read).insert_before(place.tree, place.statement, f"{base} = {base}.clone()")


def _read_as_copies(place: Place) -> Iterator[Draft]:
    """What the function reads of what a statement writes into: in one statement, and then in all of them."""
    edited = list(map(_root, _written_into([place])))
    read = [[part for part in _parts_read(each) if _root(part) in edited] for each in place.own]
    yield from (_copied(place, each) for each in filter(None, read))
    yield _copied(place, chain.from_iterable(read))


def _parts_read(statement: Statement) -> list[ast.Subscript]:
    """`table[i, j]`, wherever it is read; of `rows[i][j]` the whole."""
    found = only(ast.Subscript, nodes(statement, into_functions=False))
    inner = {each.value for each in found}
    return [each for each in found if isinstance(each.ctx, ast.Load) and each not in inner]


def _all_that_edit(program: Program) -> Iterator[Place]:
    """The statements of these files that write into something: into a part of it, or by a method that edits it."""
    for tree in program.trees(program.diagnosis.used):
        editing = (each for each in tree.statements if is_simple(each) and _edits(each))
        yield from filter(None, (program.place_at(tree.file, tree.line(each), "") for each in editing))


def _edits(statement: Statement) -> bool:
    """Whether it may edit a tensor in place, by how it is written; what counts by constants does not."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return has_twin(name)
        case ast.AugAssign(value=value):
            return not isinstance(value, ast.Constant)
    return any(isinstance(each, ast.Subscript) for each in targets(statement))


def _innermost(program: Program, location: Location | None) -> list[Place]:
    """The innermost simple statement of the user's."""
    return [each for each in program.inward(location) if is_simple(each.statement)][:1]


def _copied(place: Place, read: Iterable[ast.expr]) -> Draft:
    return Draft().replace_each(place.tree, {each: method(place.text(each), "clone") for each in read})


def _written_into(places: Iterable[Place]) -> list[ast.expr]:
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


def _root(node: ast.expr) -> str:
    """`table` of `table[i - 1, j]`, `self.table` of `self.table[i]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node)
