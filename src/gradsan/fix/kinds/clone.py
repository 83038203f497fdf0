"""Leave the saved tensor as it is: edit a copy, or use the form of the operation that returns a new one."""

import ast
from collections.abc import Iterator
from itertools import islice

from gradsan.fix.kinds import Places, named
from gradsan.fix.places.copies import copied, parts_read, root_of
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_above, held_at
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import method, written_out
from gradsan.knowledge.tensors import edits, has_twin
from gradsan.source.arguments import without_argument
from gradsan.source.loop_items import item_of
from gradsan.source.names import argument, assigned_names, loaded, loaded_names, nodes
from gradsan.source.tree import For, is_simple


def _where_it_is_edited(program: Program) -> Iterator[Draft]:
    """The innermost line of the user's that edits it."""
    for place in program.inward(program.diagnosis.changed)[:1]:
        yield from _in_its_container(place)
        yield from _out_of_place(program, place)


def _saving_a_copy(program: Program, name: str) -> Iterator[Draft]:
    """The line that saved it saves a copy instead."""
    simple = [each for each in program.inward(program.diagnosis.made) if is_simple(each.statement)]
    reading = ((each, loads) for each in simple if (loads := loaded(_read_in(each.statement), name)))
    for place, loads in islice(reading, 1):
        if all(held_at(program, place.tree, load).is_tensor for load in loads):
            yield Draft().replace_each(place.tree, {each: method(place.text(each), "clone") for each in loads})


def _out_of_place(program: Program, place: Place) -> Iterator[Draft]:
    text = place.tree.text
    match place.statement:
        case ast.AugAssign(target=target) as edit if _is_of_use(target, place):
            yield Draft().replace(place.tree, edit, written_out(place.tree, edit, text(target)))
        case ast.Assign(targets=[ast.Subscript(value=base)]) | ast.AugAssign(target=ast.Subscript(value=base)) if (
            _is_of_use(base, place)
        ):
            yield from _with_items(program, place, text(base))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=name) as func) as call) as edit if has_twin(
            name
        ) and _is_of_use(base, place):
            arguments = text(call).removeprefix(text(func))
            code = f"{text(base)} = {text(base)}.{name.removesuffix('_')}{arguments}"
            yield Draft().replace(place.tree, edit, code)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Subscript(value=base), attr=name))) if edits(
            name
        ) and _is_of_use(base, place):
            yield from _with_items(program, place, text(base))
        case _:
            yield from _switched_off(place)


def _in_its_container(place: Place) -> Iterator[Draft]:
    """`for key, w in held.items(): w -= x` puts the new tensor under the key: what the loop calls it is forgotten."""
    match _new_value(place):
        case str(name), str(value):
            loops = (loop for loop in place.loops if isinstance(loop, For) and name in assigned_names(loop.target))
        case _:
            return
    for loop in islice(loops, 1):
        tree, item = place.tree, item_of(loop, name)
        if item is not None and item.key is not None:
            under = f"{tree.text(item.container)}[{tree.text(item.key)}]"
            yield Draft().replace(tree, place.statement, f"{under} = {value}")
        elif item is not None and loop.body == [place.statement] and not loop.orelse:
            listed = f"[{value} for {tree.text(loop.target)} in {tree.text(loop.iter)}]"
            yield Draft().replace(tree, loop, f"{tree.text(item.container)} = {listed}")


def _new_value(place: Place) -> tuple[str, str] | None:
    """The variable that a statement edits in place, and what it computes."""
    tree = place.tree
    match place.statement:
        case ast.AugAssign(target=ast.Name(id=name)) as edit:
            return name, written_out(tree, edit, name).partition("= ")[2]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method) as func) as call) if (
            has_twin(method)
        ):
            return name, f"{name}.{method.removesuffix('_')}{tree.text(call).removeprefix(tree.text(func))}"
    return None


def _with_items(program: Program, place: Place, base: str) -> Iterator[Draft]:
    """`rows[0] += x`: of a tensor, into a copy of it; of a container, its item becomes a new tensor.

    A loop that writes item by item would copy all of it every time: what it reads is copied first.
    """
    edit = place.statement
    held = held_above(program, place.tree, edit, base)
    if held.is_tensor:
        yield from _saved_as_copies(program, place, base)
        yield Draft().insert_before(place.tree, edit, f"{base} = {base}.clone()")
        yield from _with_items_of_its_own(place, base)
    elif isinstance(edit, ast.AugAssign) and held.is_known and not held.without("list", "dict"):
        yield Draft().replace(place.tree, edit, written_out(place.tree, edit, place.tree.text(edit.target)))


def _saved_as_copies(program: Program, place: Place, base: str) -> Iterator[Draft]:
    """In a loop, what the statement reads that has saved it, where it reads items."""
    for saving in program.inward(program.diagnosis.made)[:1] if place.loops else ():
        read = [each for each in parts_read(saving.statement) if root_of(each) == base]
        if read:
            yield copied(saving, read)


def _with_items_of_its_own(place: Place, base: str) -> Iterator[Draft]:
    """`x[a] = x[b] * y`: what is written into is a copy, and what the product saves is another."""
    loads = loaded(_read_in(place.statement), base)
    if loads:
        draft = Draft().insert_before(place.tree, place.statement, f"{base} = {base}.clone()")
        yield draft.replace_each(place.tree, {each: method(place.text(each), "clone") for each in loads})


def _read_in(statement: ast.AST) -> ast.AST:
    """The part of a statement that reads values: a copy of what is written into would be lost."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=args)) if edits(name):
            return ast.Tuple(args)
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.AST) else statement


def _switched_off(place: Place) -> Iterator[Draft]:
    """`inplace=True` in a call of the statement."""
    inside = only(ast.Call, nodes(place.statement))
    editing = [each for each in inside if argument(each, "inplace") is not None]
    yield Draft().replace_each(place.tree, {each: without_argument(place.text(each), "inplace") for each in editing})


def _is_of_use(base: ast.expr, place: Place) -> bool:
    """Whether somebody reads a copy that has the name now: of a local, others may have the tensor itself."""
    if not isinstance(base, ast.Name):
        return isinstance(base, ast.Attribute)
    tree, lines = place.tree, _lines_that_may_read(place, base.id)
    others = [each for each in tree.statements if is_simple(each) and each is not place.statement]
    here = [each for each in others if tree.scope(each) is place.scope and tree.line(each) in lines]
    return base.id in loaded_names(here)


def _lines_that_may_read(place: Place, name: str) -> range:
    """All below a statement, and all of a loop around it; but the next iteration of one over it has another tensor."""
    tree = place.tree
    first, last = tree.end_line(place.statement) + 1, len(tree.source.lines)
    for loop in place.loops:
        if isinstance(loop, For) and name in assigned_names(loop.target):
            return range(first, tree.end_line(loop) + 1)
        first = tree.line(loop)
    return range(first, last + 1)


PLACES: Places = {"change": _where_it_is_edited, **named({"saving": _saving_a_copy})}
