"""Copies of whatever the saving statement reads, and of whatever the editing statement writes into.

Where a run has not shown these two, any statement of the files that the failing pass was asked from may be one of them.
"""

import ast
from collections.abc import Iterable, Iterator

from gradsan.facts.location import Location
from gradsan.fix.places.copies import copied, parts_read, read_as_copies, root_of, written_into
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.search.cutting import read_by
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.tensors import has_twin
from gradsan.source.names import targets
from gradsan.source.tree import Statement, is_simple


def of_what_is_saved_or_edited(program: Program) -> Iterator[Draft]:
    """Of what bears the name of what is edited first; then of each thing that is read; then of what is written into."""
    saving, editing = (_innermost(program, each) for each in (program.diagnosis.made, program.diagnosis.changed))
    edited = list(map(root_of, written_into(editing)))
    for place in saving:
        read = [each for each in read_by(place.statement) if not isinstance(each, ast.Call)]
        yield copied(place, [each for each in read if root_of(each) in edited])
        yield copied(place, read)
        yield from (copied(place, [each]) for each in read)
    for place in editing or _all_that_edit(program):
        yield from read_as_copies(place)
        for base in dict.fromkeys(map(root_of, written_into([place]))):
            yield _written_into_a_copy(place, base, [])
            own = [each for each in parts_read(place.statement) if root_of(each) == base]
            if own:
                yield _written_into_a_copy(place, base, own)


def _written_into_a_copy(place: Place, base: str, read: Iterable[ast.expr]) -> Draft:
    """What has the name is a copy from here on; what the statement itself reads of it is another."""
    return copied(place, read).insert_before(place.tree, place.statement, f"{base} = {base}.clone()")


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
