"""The code that detaches what a name holds: right for every form that the value may take."""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from textwrap import indent

from gradsan.facts.held import Held, Kind, Shape
from gradsan.fix.reading.flow import only
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import free_name
from gradsan.source.file import Source
from gradsan.source.imported import word_for
from gradsan.source.names import dotted
from gradsan.source.tree import Tree

_ITEM_OF = re.compile(r"(.*)\[(\d+)\]((?:\.\w+)+)")  # `model.layers[0].state`
_GRAD = ("torch.autograd.grad", "autograd.grad", "grad")
_WRITTEN: dict[Kind, str] = {
    "tuple": "tuple({within} for {item} in {whole})",
    "list": "[{within} for {item} in {whole}]",
    "deque": "[{within} for {item} in {whole}]",  # where it is only read
    "named tuple": "{whole}._make({within} for {item} in {whole})",
    "dict": "{{key: {within} for key, {item} in {whole}.items()}}",
}
_CLASSES: dict[Kind, str] = {"tuple": "tuple", "list": "list", "dict": "dict"}
_UNCHANGED: tuple[Kind, ...] = ("number", "None")  # there is nothing in it that could be detached


def detached(expression: str, held: Held, source: Source) -> str | None:
    """The expression with every tensor in it detached; None where no expression can say that.

    Where a value has several forms, the expression asks which it is.
    """
    forms = held.without(*_UNCHANGED).shapes
    codes = [_detached_form(expression, each, source) for each in forms]
    written = [code for code in codes if code is not None]
    if not written or len(written) < len(forms):
        return expression if held.shapes and not forms else None
    if len(forms) == len(held.shapes) == 1:
        return written[0]
    if len(forms) == 1 and not held.may_be("number"):
        return f"None if {expression} is None else {written[0]}"
    return _chosen(expression, forms, written, source, others=len(forms) < len(held.shapes))


def _chosen(
    expression: str, forms: Sequence[Shape], codes: Sequence[str], source: Source, *, others: bool
) -> str | None:
    """The code of whichever form it has; what has `others` stays as it is."""
    classes = [_class_of(each, source) for each in forms]
    if None in classes:
        return None
    # The last of them needs no question where there is nothing else.
    branches = [f"{code} if isinstance({expression}, {cls})" for code, cls in zip(codes, classes, strict=True)]
    last = expression if others else codes[-1]
    return " else ".join([*(branches if others else branches[:-1]), last])


def _class_of(shape: Shape, source: Source) -> str | None:
    """How the file asks for a form; None where it has no word for that."""
    return tensor_class(source) if shape.kind == "tensor" else _CLASSES.get(shape.kind)


def _detached_form(expression: str, shape: Shape, source: Source) -> str | None:
    if shape.kind == "tensor":
        return f"{expression}.detach()"
    if shape.kind not in _WRITTEN or shape.items is None:
        return None
    item = "value" if shape.kind == "dict" else "each"
    item = f"inner_{item}" if expression in {"value", "each"} else item
    within = detached(item, shape.items, source)
    if not shape.items or within == item:
        return expression  # there is no tensor in it
    return None if within is None else _WRITTEN[shape.kind].format(within=within, item=item, whole=expression)


def detaching(name: str, held: Held, source: Source) -> list[str]:
    """The statements that leave every tensor detached in what a name holds; none where that cannot be written."""
    form = held.without("None")
    if len(form.shapes) != 1:
        return _assigned(name, held, source)
    lines = _in_place(name, form.shapes[0], source) or _assigned(name, form, source)
    if not lines or not held.may_be("None"):
        return lines
    return [f"if {name} is not None:\n" + _indented(lines)]


def _assigned(name: str, held: Held, source: Source) -> list[str]:
    """The same name for the detached value; none where there is nothing to detach."""
    code = detached(name, held, source)
    if code is None or code == name:
        return []
    asking = ".requires_grad_()" if held.is_tensor and _is_differentiated_by(name, source) else ""
    return [f"{name} = {code}{asking}"]


def _in_place(name: str, shape: Shape, source: Source) -> list[str]:
    """The statements for what is changed rather than replaced: an object, a deque."""
    change = _CHANGING.get(shape.kind)
    return [] if change is None else change(name, shape, source)


def _fields(name: str, shape: Shape, _: Source) -> list[str]:
    return [f"{name}.{field} = {name}.{field}.detach()" for field in shape.fields]


def _copied_with_fields(name: str, shape: Shape, source: Source) -> list[str]:
    copying = word_for(source.tree, "dataclasses", "replace")
    changed = ", ".join(f"{each}={name}.{each}.detach()" for each in shape.fields)
    return [] if copying is None else [f"{name} = {copying}({name}, {changed})"]


def _items(name: str, shape: Shape, source: Source) -> list[str]:
    within = "each" if shape.items is None else detached("each", shape.items, source)
    if within in {None, "each"}:
        return []
    return [f"for index, each in enumerate({name}):\n    {name}[index] = {within}\n"]


_CHANGING: dict[Kind, Callable[[str, Shape, Source], list[str]]] = {
    "record": _fields,
    "frozen record": _copied_with_fields,
    "deque": _items,
}
_HELPER = '''\
def {name}(state):
    """The same values without their graph, whatever holds them."""
    if isinstance(state, {tensor}):
        return state.detach()
    if isinstance(state, dict):
        return {{key: {name}(value) for key, value in state.items()}}
    if isinstance(state, (list, tuple)):
        items = [{name}(value) for value in state]
        return state._make(items) if hasattr(state, "_make") else type(state)(items)
    return state
'''


def helper(tree: Tree, draft: Draft) -> str | None:
    """The name of a function that detaches whatever it is given, added to the file; None where it has no place there.

    It is for values of which neither the source nor a run has shown what they are.
    """
    tensor = tensor_class(tree.source)
    imports = [each for each in tree.module.body if is_import(each)]
    if tensor is None or not imports:
        return None
    name = free_name(tree.module, ("detached", "detached_state", "without_graph"))
    draft.insert_once(tree, imports[-1], "\n\n" + _HELPER.format(name=name, tensor=tensor))
    return name


def is_import(statement: ast.AST) -> bool:
    """Whether a statement is an import."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def can_be_number(held: Held) -> bool:
    """Whether `float` takes all that a value may be: a tensor and a number alike, and what nobody knows."""
    return bool(held) and not held.without("tensor", "number", "something")


def tensor_class(source: Source) -> str | None:
    """How the file says `torch.Tensor`; None where it has no word for it."""
    return word_for(source.tree, "torch", "Tensor")


def no_grad(source: Source) -> str | None:
    """How the file says `torch.no_grad`; None where it has no word for it."""
    return word_for(source.tree, "torch", "no_grad")


def _is_differentiated_by(name: str, source: Source) -> bool:
    """Whether the file asks for gradients with respect to it: `torch.autograd.grad(loss, theta)`."""
    calls = only(ast.Call, ast.walk(source.tree))
    asking = (each for each in calls if dotted(each.func) in _GRAD)
    return name in map(ast.unparse, chain.from_iterable(map(_inputs, asking)))


def _inputs(call: ast.Call) -> Iterable[ast.expr]:
    """What a call asks for the gradients of."""
    asked = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "inputs")]
    return chain.from_iterable(getattr(each, "elts", [each]) for each in asked)


def for_each(names: Sequence[str], source: Source, statements: Callable[[str], list[str]]) -> list[str]:
    """What is to be done with the state of several objects; a loop where they are the items of one list."""
    lists: dict[str, list[str]] = {}
    for name in names:
        lists.setdefault(_ITEM_OF.sub(r"\1[]\3", name), []).append(name)
    return list(chain.from_iterable(_of_one_list(each, source, statements) for each in lists.values()))


def _of_one_list(items: Sequence[str], source: Source, statements: Callable[[str], list[str]]) -> list[str]:
    """A loop over the list, or over those of its items that are meant: others may have no such state."""
    found = _ITEM_OF.fullmatch(items[0])
    if len(items) == 1 or found is None:
        return statements(items[0])
    place, attribute = found[1], found[3]
    numbers = [int(each[2]) for each in filter(None, map(_ITEM_OF.fullmatch, items))]
    is_whole = sorted(numbers) == list(range(len(numbers)))
    every = place if is_whole else f"({', '.join(f'{place}[{n}]' for n in numbers)})"
    layer = free_name(source.tree, ("layer", "part"))
    inner = statements(f"{layer}{attribute}")
    return [f"for {layer} in {every}:\n" + _indented(inner)] if inner else []


def _indented(lines: Iterable[str]) -> str:
    return indent("".join(f"{each.rstrip()}\n" for each in lines), "    ")
