"""What a statement adds to a total or puts into a container, and how that is kept without its graph."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_at
from gradsan.fix.writing.cutting import cut_value
from gradsan.fix.writing.detaching import can_be_number
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import is_only_given, method
from gradsan.knowledge.effects import does
from gradsan.source.names import assigned_names, called_name, given, loaded_names, nodes
from gradsan.source.tree import Function, Tree, same_as

Cut = Callable[[Program, Tree, ast.expr, Draft], bool]
_GROUPS = ast.Dict | ast.Tuple | ast.List


@dataclass(frozen=True, slots=True)
class Added:
    """What a statement adds to a total or puts into a container, and how it writes that."""

    value: ast.expr
    total: str


def kept_by(cut: Cut, program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """With what is kept cut: the thing itself, losses in a dict or tuple, or what a function returns."""
    for tree, tensors in _what_is_kept(program, place, added):
        draft = Draft()
        if all(cut(program, tree, each, draft) for each in tensors):
            yield draft


def _what_is_kept(program: Program, place: Place, added: Added) -> Iterator[tuple[Tree, list[ast.expr]]]:
    yield from _given_by_a_caller(program, place, added)
    kept = _tensors(added.value, _losses(program, place))
    if kept:
        yield place.tree, kept
    if isinstance(added.value, _GROUPS):
        return
    elsewhere = (each for each in program.inward(program.diagnosis.made) if each.function != place.function)
    returned = ((each.tree, inside) for each in elsewhere if (inside := _returned(each)))
    yield from filter(None, [next(returned, None)])
    if not kept:
        yield place.tree, [added.value]


def _given_by_a_caller(program: Program, place: Place, added: Added) -> list[tuple[Tree, list[ast.expr]]]:
    """What one caller hands to a function that mixes it into its own state: `meter.update(loss)`.

    Others may give it numbers, and it goes on with whatever it is given. Where several give tensors, none is chosen.
    """
    function = place.scope
    if not isinstance(function, Function) or isinstance(added.value, ast.Name):
        return []
    names = [each.arg for each in function.args.args]
    mixed = [name for name in names if name in loaded_names(added.value) - {"self"}]
    if len(mixed) != 1 or not is_only_given(function, mixed[0]) or _asks_of(function, mixed[0]):
        return []
    position = names.index(mixed[0]) - (names[:1] == ["self"])
    trees = program.trees(program.diagnosis.held, program.diagnosis.made, program.diagnosis.used)
    found = [(tree, [each]) for tree in trees for each in _arguments(tree, function.name, position)]
    return found if len(found) == 1 else []


def _arguments(tree: Tree, function: str, position: int) -> list[ast.expr]:
    """What the calls of a function give at one place, where that is a variable."""
    calls = [each for each in only(ast.Call, nodes(tree.module)) if called_name(each) == function]
    given = (argument for each in calls for argument in each.args[position : position + 1])
    return [each for each in given if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]


def _asks_of(function: Function, name: str) -> bool:
    """Whether the function calls methods of it, which a number would not have."""
    return any(isinstance(each, ast.Attribute) and same_as(each.value, name) for each in nodes(function))


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
    """The names that the function gives to what is held: those that the creating line assigns."""
    here = (each for each in program.inward(program.diagnosis.made) if each.function == place.function)
    return next((assigned_names(each.statement) for each in here), set())


def _tensors(value: ast.expr, losses: set[str]) -> list[ast.expr]:
    """The names of losses that stand by themselves in a dict, a tuple or a list; the whole, if it is no such thing."""
    if isinstance(value, ast.Name):
        return [value] if value.id in losses or not losses else []
    others = [each for each in _inside(value) if not isinstance(each, ast.Name) or each.id in losses]
    return list(chain.from_iterable(_tensors(each, losses) for each in others))


def _inside(value: ast.expr) -> Iterable[ast.expr]:
    match value:
        case ast.Dict(values=inner) | ast.Tuple(elts=inner) | ast.List(elts=inner):
            return inner
        case ast.Call(func=ast.Name(id="dict")):
            return given(value)
    return []


def _returned(creating: Place) -> list[ast.expr]:
    """The loss in what the function that created it hands out together with others: `return {"loss": loss}`."""
    names = assigned_names(creating.statement)
    values = [each.value for each in only(ast.Return, creating.own) if each.value]
    return [loss for each in values if not isinstance(each, ast.Name) for loss in _tensors(each, names)]


def added_at(program: Program, place: Place, name: str) -> Added | None:
    """What the statement adds to the total or puts into the container; an item of it is written `name[…]`."""
    for total, value in _additions(program, place):
        whole = total.value if isinstance(total, ast.Subscript) else total
        if same_as(total, name) or same_as(whole, name):
            return Added(value, place.text(total))
    return None


def _additions(program: Program, place: Place) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement may add to, or put something into, each with what that is."""
    match place.statement:
        case ast.AugAssign(target=target, value=value):
            yield target, value
        case ast.Assign(targets=targets, value=value):
            if isinstance(value, ast.BinOp):
                yield from [(value.left, value.right), (value.right, value.left)]
            if len(targets) == 1 and (isinstance(targets[0], ast.Subscript) or program.remedy.by_assignment):
                yield targets[0], value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=method_name)) as call):
            losses = _losses(program, place)
            named = [each for each in only(ast.Name, given(call)) if each.id in losses]
            # What else a method does with it, only its class knows.
            put = given(call)[-1:] if does(method_name, "stores") else named[:1]
            yield from ((base, each) for each in put)
