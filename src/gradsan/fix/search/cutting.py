"""The old value without its graph, at every place that it passes: where it is created, put away, read and handed on."""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from gradsan.facts.held import TENSOR
from gradsan.fix.places.carried_between import cut_below, right_below_the_pass
from gradsan.fix.reading.flow import ending, last_part, only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_below
from gradsan.fix.writing.cutting import cut_value
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import assigned_names, given, last_name, loaded_names, nodes, targets
from gradsan.source.tree import Statement, Tree, is_simple

_HOLDING = (ast.Name, ast.Attribute, ast.Subscript)


def where_it_passes(program: Program) -> Iterator[Draft]:
    """One place after the other: below the pass, then what bears its name, then whatever may stand for it."""
    if program.name is not None:
        yield from right_below_the_pass(program, program.name)
    for node, tree in {node: tree for tree, node in _on_the_way(program) if not _is_index(tree, node)}.items():
        draft = Draft()
        if isinstance(node, ast.stmt):
            yield from _below(program, tree, node)
        elif cut_value(program, tree, node, draft, like=TENSOR):  # where nothing shows what it is, the trial will
            yield draft


def _on_the_way(program: Program) -> Iterator[tuple[Tree, ast.expr | Statement]]:
    reading, creating = map(program.apart_from_the_pass, (program.diagnosis.enters, program.diagnosis.made))
    last = last_part(program.name)
    read = [(place.tree, each) for place in reading for each in read_by(place.statement)]
    yield from (each for each in read if last and ending(each[1]) == last)
    for tree in dict.fromkeys(each.tree for each in (*creating, *reading)):
        yield from ((tree, each) for each in _put_into(tree, last))
    yield from ((place.tree, each) for place in creating for each in _handed_on(place))
    yield from read


def _is_index(tree: Tree, node: ast.AST) -> bool:
    """Whether it says which item is meant, as `task` of `losses[task]`: no graph leads through that."""
    inside = [node, *tree.above(node)]
    return any(isinstance(each, ast.Subscript) and each.slice in inside for each in inside)


def read_by(statement: Statement) -> Iterable[ast.expr]:
    """What a statement reads, as a whole: `x.y` and neither `x`, nor what is called, nor what an item is put into."""
    inside = list(nodes(statement, into_functions=False)) if is_simple(statement) else []
    calls = only(ast.Call, inside)
    parts = {each.func for each in calls} | {each.value for each in only(ast.Attribute, inside)}
    parts |= {each.value for each in only(ast.Subscript, inside) if isinstance(each.ctx, ast.Store)}
    yield from (value for each in calls for value in only(ast.Call, given(each)))
    for each in inside:
        if isinstance(each, _HOLDING) and isinstance(each.ctx, ast.Load) and each not in parts:
            yield each


def _put_into(tree: Tree, last: str) -> Iterator[ast.expr | Statement]:
    """What the statements of a file assign to a name, or to an item or attribute of that name."""
    for each in tree.statements:
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value and last in map(ending, targets(each)):
            yield each.value if len(targets(each)) == 1 else each


def _handed_on(creating: Place) -> Iterator[ast.expr | Statement]:
    """What a statement creates, and the statements below that give it to others or put it away."""
    statement = creating.statement
    match statement:
        case ast.Return(value=ast.expr() as value) | ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value):
            yield value
        case ast.Assign():
            yield statement
    names = assigned_names(statement)
    for read in chain.from_iterable(map(read_by, creating.own_below)):
        if loaded_names(read) & names and not isinstance(read, ast.Call):
            yield read


def _below(program: Program, tree: Tree, statement: Statement) -> Iterator[Draft]:
    """What a statement assigns to several names, cut in the line below."""
    for name in filter(last_name, targets(statement)):
        written = tree.text(name)
        held = held_below(program, tree, statement, written)
        yield from cut_below(program, tree, statement, [written], held)
