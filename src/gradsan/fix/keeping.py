"""What a statement adds to a total or puts into a container, and how that is kept without its history."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gradsan.fix.carried import can_be_number
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import is_only_given, method
from gradsan.fix.program import Place, Program
from gradsan.fix.revealing import held_at
from gradsan.fix.uses import cut_value
from gradsan.knowledge.effects import does
from gradsan.source.names import assigned_names, called_name, given, loaded_names, nodes
from gradsan.source.tree import Function, Tree, same_as

Cut = Callable[[Program, Tree, ast.expr, Draft], bool]


@dataclass(frozen=True, slots=True)
class Added:
    """What a statement adds to a total or puts into a container, and how it writes that."""

    value: ast.expr
    total: str


def kept_by(cut: Cut, program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """With what is kept cut: the thing itself, losses in a dict or tuple, or what a function returns."""
    by_caller = _given_by(program, place, added)
    if by_caller is not None:
        yield from _with(cut, program, by_caller[0], [by_caller[1]])
    kept = list(_tensors(added.value, _losses(program, place)))
    if kept:
        yield from _with(cut, program, place, kept)
    if isinstance(added.value, ast.Dict | ast.Tuple | ast.List):
        return
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function != place.frame.function and (inside := _returned(maker)):
            yield from _with(cut, program, maker, inside)
            break
    if not kept:
        yield from _with(cut, program, place, [added.value])


def _given_by(program: Program, place: Place, added: Added) -> tuple[Place, ast.expr] | None:
    """What one caller hands to a function that mixes it into its own state: `meter.update(loss)`.

    Others may give it numbers, and it goes on with whatever it is given. Where several give tensors, none is chosen.
    """
    function = place.tree.scope(place.statement)
    if not isinstance(function, Function) or isinstance(added.value, ast.Name):
        return None
    names = [each.arg for each in function.args.args]
    mixed = [name for name in names if name in loaded_names(added.value) and name != "self"]
    if len(mixed) != 1 or not is_only_given(function, mixed[0]) or _asks_of(function, mixed[0]):
        return None
    position = names.index(mixed[0]) - (names[:1] == ["self"])
    diagnosis = program.diagnosis
    files = dict.fromkeys(each.file for each in (diagnosis.held, diagnosis.made, diagnosis.used) if each is not None)
    found = [
        (caller, argument)
        for file in files
        for line in _calling_lines(program, file, function.name)
        if (caller := program.place_at(file, line, "")) is not None
        for argument in _arguments(caller, function.name, position)
    ]
    return found[0] if len(found) == 1 else None


def _calling_lines(program: Program, file: str, function: str) -> set[int]:
    source = program.source(file)
    calls = [] if source is None else [each for each in ast.walk(source.tree) if isinstance(each, ast.Call)]
    return {each.lineno for each in calls if called_name(each) == function}


def _arguments(caller: Place, function: str, position: int) -> Iterator[ast.expr]:
    """What the calls of a statement give at one place, where that is a variable."""
    for each in nodes(caller.statement):
        if isinstance(each, ast.Call) and called_name(each) == function and len(each.args) > position:
            argument = each.args[position]
            if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript):
                yield argument


def _asks_of(function: Function, name: str) -> bool:
    """Whether the function calls methods of it, which a number would not have."""
    return any(
        isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == name
        for each in nodes(function)
    )


def _with(cut: Cut, program: Program, place: Place, tensors: Iterable[ast.expr]) -> Iterator[Draft]:
    draft = Draft()
    if all(cut(program, place.tree, each, draft) for each in tensors):
        yield draft


def as_tensor(program: Program, tree: Tree, node: ast.expr, draft: Draft) -> bool:
    """Keep the tensor without its graph; whether that can be written."""
    return cut_value(program, tree, node, draft)


def as_number(program: Program, tree: Tree, node: ast.expr, draft: Draft) -> bool:
    """Keep the number; whether that can be written."""
    new = number(program, tree, node, tree.text(node))
    if new is not None:
        draft.replace(tree, node, new)
    return new is not None


def number(program: Program, tree: Tree, node: ast.expr, named: str) -> str | None:
    """The number in what an expression is worth, which `named` is another name for; None where it may be no number."""
    held = held_at(program, tree, node)
    if held.is_tensor:
        return method(named, "item")
    return f"float({named})" if can_be_number(held) else None


def _losses(program: Program, place: Place) -> set[str]:
    """The names that the function gives to what is held: those that the making line assigns."""
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function == place.frame.function:
            return assigned_names(maker.statement)
    return set()


def _tensors(value: ast.expr, losses: set[str]) -> Iterator[ast.expr]:
    """The names of losses that stand by themselves in a dict, a tuple or a list; the whole, if it is no such thing."""
    match value:
        case ast.Dict(values=inner) | ast.Tuple(elts=inner) | ast.List(elts=inner):
            pass
        case ast.Call(func=ast.Name(id="dict")):
            inner = given(value)
        case ast.Name(id=name) if name in losses or not losses:
            yield value
            return
        case _:
            return
    for each in inner:
        if not isinstance(each, ast.Name) or each.id in losses:
            yield from _tensors(each, losses)


def _returned(maker: Place) -> list[ast.expr]:
    """The loss in what the function that made it hands out together with others: `return {"loss": loss}`."""
    tree, names = maker.tree, assigned_names(maker.statement)
    scope = tree.scope(maker.statement)
    found: list[ast.expr] = []
    for statement in tree.statements:
        match statement:
            case ast.Return(value=ast.expr() as value) if tree.scope(statement) is scope:
                found += [] if isinstance(value, ast.Name) else _tensors(value, names)
    return found


def added_at(program: Program, place: Place, name: str) -> Added | None:
    """What the statement adds to the total or puts into the container; an item of it is written `name[…]`."""

    def is_it(written: ast.expr) -> bool:
        whole = written.value if isinstance(written, ast.Subscript) else written
        return same_as(written, name) or same_as(whole, name)

    text = place.tree.text
    match place.statement:
        case ast.AugAssign(target=target, value=value) if is_it(target):
            return Added(value, text(target))
        case ast.Assign(value=ast.BinOp(left=left, right=right)) if is_it(left):
            return Added(right, text(left))
        case ast.Assign(value=ast.BinOp(left=left, right=right)) if is_it(right):
            return Added(left, text(right))
        case ast.Assign(targets=[target], value=value) if is_it(target) and (
            isinstance(target, ast.Subscript) or program.remedy.by_assignment
        ):
            return Added(value, text(target))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=method_name)) as call) if is_it(base):
            args = given(call)
            losses = _losses(program, place)
            named = [each for each in args if isinstance(each, ast.Name) and each.id in losses]
            puts = does(method_name, "stores")
            if args and (puts or named):  # what else a method does with it, only its class knows
                return Added(args[-1] if puts else named[0], text(base))
    return None
