"""What a statement adds to a total or puts into a container, and how that is kept without its history."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from gradsan.fix.carried import can_be_number
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import (
    assigned_names,
    is_only_given,
    loaded_names,
    method,
    nodes,
    same_text,
    simple,
    text,
)
from gradsan.fix.program import Place, Program
from gradsan.fix.revealing import held_at
from gradsan.fix.tree import Tree
from gradsan.fix.uses import cut_value
from gradsan.knowledge.effects import does

Cut = Callable[[Program, Tree, cst.BaseExpression, Draft], bool]


@dataclass(frozen=True, slots=True)
class Added:
    """What a statement adds to a total or puts into a container, and how it writes that."""

    value: cst.BaseExpression
    total: str


def kept_by(cut: Cut, program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """With what is kept cut: the thing itself, losses in a dict or tuple, or what a function returns."""
    given = _given_by(program, place, added)
    if given is not None:
        yield from _with(cut, program, given[0], [given[1]])
    kept = list(_tensors(added.value, _losses(program, place)))
    if kept:
        yield from _with(cut, program, place, kept)
    if isinstance(added.value, cst.Dict | cst.Tuple | cst.List):
        return
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function != place.frame.function and (inside := _returned(maker)):
            yield from _with(cut, program, maker, inside)
            break
    if not kept:
        yield from _with(cut, program, place, [added.value])


def _given_by(program: Program, place: Place, added: Added) -> tuple[Place, cst.BaseExpression] | None:
    """What one caller hands to a function that mixes it into its own state: `meter.update(loss)`.

    Others may give it numbers, and it goes on with whatever it is given. Where several give tensors, none is chosen.
    """
    function = place.tree.scope(place.statement)
    if not isinstance(function, cst.FunctionDef) or isinstance(added.value, cst.Name):
        return None
    names = [each.name.value for each in function.params.params]
    mixed = [name for name in names if name in loaded_names(added.value) and name != "self"]
    if len(mixed) != 1 or not is_only_given(function, mixed[0]) or _asks_of(function, mixed[0]):
        return None
    position = names.index(mixed[0]) - (names[:1] == ["self"])
    diagnosis = program.diagnosis
    files = dict.fromkeys(each.file for each in (diagnosis.held, diagnosis.made, diagnosis.used) if each is not None)
    found = [
        (caller, argument)
        for file in files
        for line in _calling_lines(program, file, function.name.value)
        if (caller := program.place_at(file, line, "")) is not None
        for argument in _arguments(caller, function.name.value, position)
    ]
    return found[0] if len(found) == 1 else None


def _calling_lines(program: Program, file: str, function: str) -> set[int]:
    source = program.source(file)
    calls = [] if source is None else [each for each in ast.walk(source.tree) if isinstance(each, ast.Call)]
    return {each.lineno for each in calls if getattr(each.func, "attr", getattr(each.func, "id", None)) == function}


def _arguments(caller: Place, function: str, position: int) -> Iterator[cst.BaseExpression]:
    """What the calls of a statement give at one place, where that is a variable."""
    for each in nodes(caller.statement):
        if isinstance(each, cst.Call) and text(each.func).rpartition(".")[2] == function and len(each.args) > position:
            given = each.args[position]
            if given.keyword is None and isinstance(given.value, cst.Name | cst.Attribute | cst.Subscript):
                yield given.value


def _asks_of(function: cst.FunctionDef, name: str) -> bool:
    """Whether the function calls methods of it, which a number would not have."""
    return any(
        isinstance(each, cst.Attribute) and isinstance(each.value, cst.Name) and each.value.value == name
        for each in nodes(function)
    )


def _with(cut: Cut, program: Program, place: Place, tensors: Iterable[cst.BaseExpression]) -> Iterator[Draft]:
    draft = Draft()
    if all(cut(program, place.tree, each, draft) for each in tensors):
        yield draft


def as_tensor(program: Program, tree: Tree, node: cst.BaseExpression, draft: Draft) -> bool:
    """Keep the tensor without its graph; whether that can be written."""
    return cut_value(program, tree, node, draft)


def as_number(program: Program, tree: Tree, node: cst.BaseExpression, draft: Draft) -> bool:
    """Keep the number; whether that can be written."""
    new = number(program, tree, node, node)
    if new is not None:
        draft.replace(tree, node, new)
    return new is not None


def number(
    program: Program, tree: Tree, node: cst.BaseExpression, named: cst.BaseExpression
) -> cst.BaseExpression | None:
    """The number in what an expression is worth, which `named` is another name for; None where it may be no number."""
    held = held_at(program, tree, node)
    if held.is_tensor:
        return method(named, "item")
    return cst.parse_expression(f"float({text(named)})") if can_be_number(held) else None


def _losses(program: Program, place: Place) -> set[str]:
    """The names that the function gives to what is held: those that the making line assigns."""
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function == place.frame.function:
            return assigned_names(maker.statement)
    return set()


def _tensors(value: cst.BaseExpression, losses: set[str]) -> Iterator[cst.BaseExpression]:
    """The names of losses that stand by themselves in a dict, a tuple or a list; the whole, if it is no such thing."""
    match value:
        case cst.Dict(elements=elements):
            inner = [each.value for each in elements]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            inner = [each.value for each in elements]
        case cst.Call(func=cst.Name(value="dict"), args=args):
            inner = [each.value for each in args]
        case cst.Name(value=name) if name in losses or not losses:
            yield value
            return
        case _:
            return
    for each in inner:
        if not isinstance(each, cst.Name) or each.value in losses:
            yield from _tensors(each, losses)


def _returned(maker: Place) -> list[cst.BaseExpression]:
    """The loss in what the function that made it hands out together with others: `return {"loss": loss}`."""
    tree, names = maker.tree, assigned_names(maker.statement)
    scope = tree.scope(maker.statement)
    found: list[cst.BaseExpression] = []
    for statement in tree.statements:
        match simple(statement):
            case cst.Return(value=cst.BaseExpression() as value) if tree.scope(statement) is scope:
                found += [] if isinstance(value, cst.Name) else _tensors(value, names)
    return found


def added_at(program: Program, place: Place, name: str) -> Added | None:
    """What the statement adds to the total or puts into the container; an item of it is written `name[…]`."""

    def is_it(written: cst.BaseExpression) -> bool:
        whole = written.value if isinstance(written, cst.Subscript) else written
        return same_text(written, name) or same_text(whole, name)

    match simple(place.statement):
        case cst.AugAssign(target=target, value=value) if is_it(target):
            return Added(value, text(target))
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if is_it(left):
            return Added(right, text(left))
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if is_it(right):
            return Added(left, text(right))
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if is_it(target) and (
            isinstance(target, cst.Subscript) or program.diagnosis.code == "GS301"
        ):
            return Added(value, text(target))
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value=method_name)), args=args)) if (
            is_it(base) and args
        ):
            losses = _losses(program, place)
            given = [each.value for each in args if isinstance(each.value, cst.Name) and each.value.value in losses]
            puts = does(method_name, "stores")
            if puts or given:  # what else a method does with it, only its class knows
                return Added(args[-1].value if puts else given[0], text(base))
    return None
