"""Leave the saved tensor as it is: edit a copy, or use the form of the operation that returns a new one."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.calls import argument, without_argument
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import loaded, loaded_names, method, nodes, simple, small, text
from gradsan.fix.program import Place, Program
from gradsan.fix.revealing import held_above, held_at

_OPERATORS = {"+=": "+", "-=": "-", "*=": "*", "/=": "/", "@=": "@", "**=": "**", "//=": "//", "%=": "%"}
# Methods that have no form which returns a new tensor.
_WITHOUT_TWIN = frozenset(
    {"requires_grad_", "retain_grad_", "detach_", "copy_", "zero_", "fill_", "set_", "normal_", "uniform_", "random_"}
    | {"exponential_", "geometric_", "cauchy_", "log_normal_", "resize_", "share_memory_"}
)


def drafts(program: Program) -> Iterator[Draft]:
    """The line that edits it; else the line that saved it, which then saves a copy."""
    for place in reversed(program.places(program.diagnosis.changed)):
        if place is not None:
            yield from _out_of_place(program, place)
            break
    yield from _saving_a_copy(program)


def _saving_a_copy(program: Program) -> Iterator[Draft]:
    culprit = program.diagnosis.culprit
    for place in reversed(program.places(program.diagnosis.made)):
        loads = [] if place is None or culprit is None else loaded(_read_in(place.statement), culprit.name)
        if place is not None and loads and isinstance(place.statement, cst.SimpleStatementLine):
            draft = Draft()
            for load in loads:
                draft.replace(place.tree, load, method(load, "clone"))
            if all(held_at(program, place.tree, load).is_tensor for load in loads):
                yield draft
            return


def _out_of_place(program: Program, place: Place) -> Iterator[Draft]:
    draft = Draft()
    match simple(place.statement):
        case cst.AugAssign(target=target, operator=operator, value=value) as edit if _is_of_use(target, place):
            new = f"{text(target)} = {text(target)} {_OPERATORS[text(operator)]} {_operand(value)}"
            draft.replace(place.tree, edit, small(new))
            yield draft
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=base))])
            | cst.AugAssign(target=cst.Subscript(value=base))
        ) if _is_of_use(base, place):
            yield from _with_items(program, place, text(base))
        case (
            cst.Expr(value=cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value="copy_")), args=[only])) as edit
        ) if isinstance(base, cst.Attribute):  # of a plain name, others may have the same tensor
            draft.replace(place.tree, edit, small(f"{text(base)} = {text(only.value)}"))
            yield draft
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value=name))) as call) as edit if (
            _edits(name) and _is_of_use(base, place)
        ):
            returning = call.with_changes(func=cst.Attribute(base, cst.Name(name.removesuffix("_"))))
            draft.replace(place.tree, edit, small(f"{text(base)} = {text(returning)}"))
            yield draft
        case _:
            yield from _switched_off(place)


def _with_items(program: Program, place: Place, base: str) -> Iterator[Draft]:
    """`rows[0] += x`: of a tensor, into a copy of it; of a container, its item becomes a new tensor."""
    draft = Draft()
    edit = simple(place.statement)
    held = held_above(program, place.tree, place.statement, base)
    if held.is_tensor:
        draft.insert_before(place.tree, place.statement, f"{base} = {base}.clone()")
        yield draft
        yield from _with_items_of_its_own(place, base)
    elif isinstance(edit, cst.AugAssign) and held.is_known and not held.without("list", "dict"):
        new = f"{text(edit.target)} = {text(edit.target)} {_OPERATORS[text(edit.operator)]} {_operand(edit.value)}"
        draft.replace(place.tree, edit, small(new))
        yield draft


def _with_items_of_its_own(place: Place, base: str) -> Iterator[Draft]:
    """`x[a] = x[b] * y`: what is written into is a copy, and what the product saves is another."""
    loads = loaded(_read_in(place.statement), base)
    if loads:
        draft = Draft()
        draft.insert_before(place.tree, place.statement, f"{base} = {base}.clone()")
        for load in loads:
            draft.replace(place.tree, load, method(load, "clone"))
        yield draft


def _read_in(statement: cst.CSTNode) -> cst.CSTNode:
    """The part of a statement that reads values: a copy of what is written into would be lost."""
    value = getattr(simple(statement), "value", None)
    return value if isinstance(value, cst.CSTNode) else statement


def _switched_off(place: Place) -> Iterator[Draft]:
    """`inplace=True` in a call of the statement."""
    draft, found = Draft(), False
    for node in nodes(place.statement):
        if isinstance(node, cst.Call) and argument(node, "inplace") is not None:
            draft.replace(place.tree, node, without_argument(node, "inplace"))
            found = True
    if found:
        yield draft


def _is_of_use(base: cst.BaseExpression, place: Place) -> bool:
    """Whether somebody reads a copy that has the name now: of a local, others may have the tensor itself."""
    if not isinstance(base, cst.Name):
        return isinstance(base, cst.Attribute)
    tree, scope = place.tree, place.tree.scope(place.statement)
    first, last = tree.end_line(place.statement) + 1, tree.lines[-1].last
    for loop in tree.loops(place.statement):
        if isinstance(loop, cst.For) and base.value in map(text, nodes(loop.target)):
            last = tree.end_line(loop)  # the next round has another tensor
            break
        first = tree.line(loop)
    return any(
        base.value in loaded_names(each)
        for each in tree.statements
        if isinstance(each, cst.SimpleStatementLine) and each is not place.statement
        if tree.scope(each) is scope and first <= tree.line(each) <= last
    )


def _edits(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name not in _WITHOUT_TWIN


def _operand(value: cst.BaseExpression) -> str:
    code = text(value)
    return (
        f"({code})" if isinstance(value, cst.BinaryOperation | cst.IfExp | cst.Comparison) and not value.lpar else code
    )
