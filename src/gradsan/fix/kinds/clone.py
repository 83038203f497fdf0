"""Leave the saved tensor as it is: edit a copy, or use the form of the operation that returns a new one."""

import ast
from collections.abc import Iterator

from gradsan.fix.calls import argument
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import method, written_out
from gradsan.fix.kinds import Places
from gradsan.fix.program import Place, Program
from gradsan.fix.revealing import held_above, held_at
from gradsan.knowledge.tensors import has_twin
from gradsan.source.arguments import without_argument
from gradsan.source.names import assigned_names, given, loaded, loaded_names, nodes
from gradsan.source.tree import For, is_simple


def _where_it_is_edited(program: Program) -> Iterator[Draft]:
    """The innermost line of the user's that edits it."""
    place = next((each for each in reversed(program.places(program.diagnosis.changed)) if each is not None), None)
    if place is not None:
        yield from _out_of_place(program, place)


def _saving_a_copy(program: Program) -> Iterator[Draft]:
    """The line that saved it saves a copy instead."""
    culprit = program.diagnosis.culprit
    for place in reversed(program.places(program.diagnosis.made)):
        loads = [] if place is None or culprit is None else loaded(_read_in(place.statement), culprit.name)
        if place is not None and loads and is_simple(place.statement):
            draft = Draft()
            for load in loads:
                draft.replace(place.tree, load, method(place.tree.text(load), "clone"))
            if all(held_at(program, place.tree, load).is_tensor for load in loads):
                yield draft
            return


def _out_of_place(program: Program, place: Place) -> Iterator[Draft]:
    draft, text = Draft(), place.tree.text
    match place.statement:
        case ast.AugAssign(target=target) as edit if _is_of_use(target, place):
            draft.replace(place.tree, edit, written_out(place.tree, edit, text(target)))
            yield draft
        case ast.Assign(targets=[ast.Subscript(value=base)]) | ast.AugAssign(target=ast.Subscript(value=base)) if (
            _is_of_use(base, place)
        ):
            yield from _with_items(program, place, text(base))
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Attribute() as base, attr="copy_")) as call) as edit
        ) if (
            len(given(call)) == 1  # of a plain name, others may have the same tensor
        ):
            draft.replace(place.tree, edit, f"{text(base)} = {text(given(call)[0])}")
            yield draft
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=name) as func) as call) as edit if has_twin(
            name
        ) and _is_of_use(base, place):
            arguments = text(call).removeprefix(text(func))
            draft.replace(place.tree, edit, f"{text(base)} = {text(base)}.{name.removesuffix('_')}{arguments}")
            yield draft
        case _:
            yield from _switched_off(place)


def _with_items(program: Program, place: Place, base: str) -> Iterator[Draft]:
    """`rows[0] += x`: of a tensor, into a copy of it; of a container, its item becomes a new tensor."""
    draft = Draft()
    edit = place.statement
    held = held_above(program, place.tree, edit, base)
    if held.is_tensor:
        draft.insert_before(place.tree, edit, f"{base} = {base}.clone()")
        yield draft
        yield from _with_items_of_its_own(place, base)
    elif isinstance(edit, ast.AugAssign) and held.is_known and not held.without("list", "dict"):
        draft.replace(place.tree, edit, written_out(place.tree, edit, place.tree.text(edit.target)))
        yield draft


def _with_items_of_its_own(place: Place, base: str) -> Iterator[Draft]:
    """`x[a] = x[b] * y`: what is written into is a copy, and what the product saves is another."""
    loads = loaded(_read_in(place.statement), base)
    if loads:
        draft = Draft()
        draft.insert_before(place.tree, place.statement, f"{base} = {base}.clone()")
        for load in loads:
            draft.replace(place.tree, load, method(place.tree.text(load), "clone"))
        yield draft


def _read_in(statement: ast.AST) -> ast.AST:
    """The part of a statement that reads values: a copy of what is written into would be lost."""
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.AST) else statement


def _switched_off(place: Place) -> Iterator[Draft]:
    """`inplace=True` in a call of the statement."""
    draft, found = Draft(), False
    for node in nodes(place.statement):
        if isinstance(node, ast.Call) and argument(node, "inplace") is not None:
            draft.replace(place.tree, node, without_argument(place.tree.text(node), "inplace"))
            found = True
    if found:
        yield draft


def _is_of_use(base: ast.expr, place: Place) -> bool:
    """Whether somebody reads a copy that has the name now: of a local, others may have the tensor itself."""
    if not isinstance(base, ast.Name):
        return isinstance(base, ast.Attribute)
    tree, scope = place.tree, place.tree.scope(place.statement)
    first, last = tree.end_line(place.statement) + 1, len(tree.source.lines)
    for loop in tree.loops(place.statement):
        if isinstance(loop, For) and base.id in assigned_names(loop.target):
            last = tree.end_line(loop)  # the next iteration has another tensor
            break
        first = tree.line(loop)
    return any(
        base.id in loaded_names(each)
        for each in tree.statements
        if is_simple(each) and each is not place.statement
        if tree.scope(each) is scope and first <= tree.line(each) <= last
    )


PLACES: Places = {"change": _where_it_is_edited, "saving": _saving_a_copy}
