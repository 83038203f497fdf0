"""The code that detaches what a name holds: right for every form that the value may take."""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from textwrap import indent

from gradsan.facts.held import Held, Kind, Shape
from gradsan.fix.drafting import Draft
from gradsan.source.file import Source
from gradsan.source.imported import word_for
from gradsan.source.tree import Tree

_ITEM_OF = re.compile(r"(.*)\[(\d+)\](\.\w+)")  # `model.layers[0].state`
_GRAD = ("torch.autograd.grad", "autograd.grad", "grad")
_WRITTEN: dict[Kind, str] = {
    "tuple": "tuple({within} for {item} in {whole})",
    "list": "[{within} for {item} in {whole}]",
    "deque": "[{within} for {item} in {whole}]",  # where it is only read
    "named tuple": "{whole}._make({within} for {item} in {whole})",
    "dict": "{{key: {within} for key, {item} in {whole}.items()}}",
}
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
    if shape.kind == "tensor":
        return tensor_class(source)
    return shape.kind if shape.kind in {"tuple", "list", "dict"} else None


def _detached_form(expression: str, shape: Shape, source: Source) -> str | None:
    if shape.kind == "tensor":
        return f"{expression}.detach()"
    if shape.kind not in _WRITTEN or shape.items is None:
        return None
    item = "value" if shape.kind == "dict" else "each"
    if expression in {"value", "each"}:
        item = f"inner_{item}"
    within = detached(item, shape.items, source)
    if not shape.items or within == item:
        return expression  # there is no tensor in it
    return None if within is None else _WRITTEN[shape.kind].format(within=within, item=item, whole=expression)


def detaching(name: str, held: Held, source: Source) -> list[str]:
    """The statements that leave every tensor detached in what a name holds; none where that cannot be written."""
    form = held.without("None")
    only = form.shapes[0] if len(form.shapes) == 1 else None
    lines = [] if only is None else _in_place(name, only, source)
    if not lines:
        code = detached(name, form if only is not None else held, source)
        if code is None or code == name:
            return []
        if held.is_tensor and _is_differentiated_by(name, source):
            code = f"{code}.requires_grad_()"
        lines = [f"{name} = {code}"]
    if only is None or not held.may_be("None"):
        return lines
    return [f"if {name} is not None:\n" + _indented(lines)]


def _in_place(name: str, shape: Shape, source: Source) -> list[str]:
    """The statements for what is changed rather than replaced: an object, a deque."""
    if shape.kind == "record":
        return [f"{name}.{field} = {name}.{field}.detach()" for field in shape.fields]
    if shape.kind == "frozen record":
        copying = word_for(source.tree, "dataclasses", "replace")
        changed = ", ".join(f"{each}={name}.{each}.detach()" for each in shape.fields)
        return [f"{name} = {copying}({name}, {changed})"] if copying is not None else []
    if shape.kind == "deque" and shape.items is not None:
        within = detached("each", shape.items, source)
        if within is not None and within != "each":
            return [f"for index, each in enumerate({name}):\n    {name}[index] = {within}\n"]
    return []


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
    name = _free(tree.source, ("detached", "detached_state", "without_graph"))
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
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _GRAD:
            asked = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "inputs")]
            items = [item for each in asked for item in getattr(each, "elts", [each])]
            if any(ast.unparse(item) == name for item in items):
                return True
    return False


def for_each(names: Sequence[str], source: Source, statements: Callable[[str], list[str]]) -> list[str]:
    """What is to be done with the state of several objects; a loop where they are the items of one list."""
    found: list[str] = []
    for place in dict.fromkeys(_ITEM_OF.sub(r"\1", name) for name in names):
        items = [name for name in names if _ITEM_OF.sub(r"\1", name) == place]
        attribute = _ITEM_OF.fullmatch(items[0])
        if len(items) == 1 or attribute is None:
            found += statements(items[0])
            continue
        numbers = [int(each[2]) for each in map(_ITEM_OF.fullmatch, items) if each is not None]
        # Where some are left out, those may have no such state.
        every = (
            place
            if sorted(numbers) == list(range(len(numbers)))
            else f"({', '.join(f'{place}[{n}]' for n in numbers)})"
        )
        layer = _free(source, ("layer", "part"))
        if inner := statements(f"{layer}{attribute[3]}"):
            found.append(f"for {layer} in {every}:\n" + _indented(inner))
    return found


def _free(source: Source, wished: Sequence[str]) -> str:
    """A name that means nothing else in the file: the first of some that is free, or one like the last."""
    names = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    names |= {node.name for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    numbered = (f"{wished[-1]}_{n}" for n in range(2, len(names) + 3))
    return next(each for each in (*wished, *numbered) if each not in names)


def _indented(lines: Iterable[str]) -> str:
    return indent("".join(f"{each.rstrip()}\n" for each in lines), "    ")
