"""What a statement adds to a total or puts into a container, and how that is kept without its graph."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.reading.revealing import held_at
from gradsan.fix.reading.uses import cut_value
from gradsan.fix.writing.detaching import can_be_number
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import is_only_given, method
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
        yield from _with(cut, program, place.tree, kept)
    if isinstance(added.value, ast.Dict | ast.Tuple | ast.List):
        return
    others = [each for each in program.inward(program.diagnosis.made) if each.function != place.function]
    returned = ((each.tree, inside) for each in others if (inside := _returned(each)))
    for tree, inside in islice(returned, 1):
        yield from _with(cut, program, tree, inside)
    if not kept:
        yield from _with(cut, program, place.tree, [added.value])


def _given_by(program: Program, place: Place, added: Added) -> tuple[Tree, ast.expr] | None:
    """What one caller hands to a function that mixes it into its own state: `meter.update(loss)`.

    Others may give it numbers, and it goes on with whatever it is given. Where several give tensors, none is chosen.
    """
    function = place.scope
    if not isinstance(function, Function) or isinstance(added.value, ast.Name):
        return None
    position = _mixed_in(function, added.value)
    if position is None:
        return None
    named = filter(None, (program.diagnosis.held, program.diagnosis.made, program.diagnosis.used))
    trees = filter(None, map(program.tree, dict.fromkeys(each.file for each in named)))
    found = [(tree, each) for tree in trees for each in _arguments(tree, function.name, position)]
    return found[0] if len(found) == 1 else None


def _mixed_in(function: Function, value: ast.expr) -> int | None:
    """The position of the one argument that an expression has and of which a number would do as well."""
    names = [each.arg for each in function.args.args]
    mixed = [name for name in names if name in loaded_names(value) - {"self"}]
    if len(mixed) != 1 or not is_only_given(function, mixed[0]) or _asks_of(function, mixed[0]):
        return None
    return names.index(mixed[0]) - (names[:1] == ["self"])


def _arguments(tree: Tree, function: str, position: int) -> list[ast.expr]:
    """What the calls of a function give at one place, where that is a variable."""
    calls = [each for each in nodes(tree.module) if isinstance(each, ast.Call)]
    given = [each.args[position : position + 1] for each in calls if called_name(each) == function]
    return [each for each in chain.from_iterable(given) if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]


def _asks_of(function: Function, name: str) -> bool:
    """Whether the function calls methods of it, which a number would not have."""
    owners = (each.value for each in nodes(function) if isinstance(each, ast.Attribute))
    return any(same_as(each, name) for each in owners)


def _with(cut: Cut, program: Program, tree: Tree, tensors: Iterable[ast.expr]) -> Iterator[Draft]:
    draft = Draft()
    if all(cut(program, tree, each, draft) for each in tensors):
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
    """The names that the function gives to what is held: those that the creating line assigns."""
    here = (each for each in program.inward(program.diagnosis.made) if each.function == place.function)
    return next((assigned_names(each.statement) for each in here), set())


def _tensors(value: ast.expr, losses: set[str]) -> Iterable[ast.expr]:
    """The names of losses that stand by themselves in a dict, a tuple or a list; the whole, if it is no such thing."""
    match value:
        case ast.Dict(values=inner) | ast.Tuple(elts=inner) | ast.List(elts=inner):
            pass
        case ast.Call(func=ast.Name(id="dict")):
            inner = given(value)
        case ast.Name(id=name) if name in losses or not losses:
            return [value]
        case _:
            return []
    others = [each for each in inner if not isinstance(each, ast.Name) or each.id in losses]
    return chain.from_iterable(_tensors(each, losses) for each in others)


def _returned(creating: Place) -> list[ast.expr]:
    """The loss in what the function that created it hands out together with others: `return {"loss": loss}`."""
    names = assigned_names(creating.statement)
    inside = nodes(creating.scope, into_functions=False)
    values = filter(None, (each.value for each in inside if isinstance(each, ast.Return)))
    return list(chain.from_iterable(_tensors(each, names) for each in values if not isinstance(each, ast.Name)))


def added_at(program: Program, place: Place, name: str) -> Added | None:
    """What the statement adds to the total or puts into the container; an item of it is written `name[…]`."""

    def is_it(written: ast.expr) -> bool:
        whole = written.value if isinstance(written, ast.Subscript) else written
        return same_as(written, name) or same_as(whole, name)

    additions = ((total, value) for total, value in _additions(program, place) if is_it(total))
    return next((Added(value, place.text(total)) for total, value in additions), None)


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
            named = [each for each in given(call) if isinstance(each, ast.Name) and each.id in losses]
            # What else a method does with it, only its class knows.
            put = given(call)[-1:] if does(method_name, "stores") else named[:1]
            yield from ((base, each) for each in put)
