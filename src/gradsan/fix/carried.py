"""What a name holds, and the code that detaches it: a tensor, or tensors in a tuple, a list, a dict, a record."""

import ast
import re
from collections.abc import Callable, Sequence
from textwrap import indent

from gradsan.fix.source import Source

_ITEM_OF = re.compile(r"(.*)\[(\d+)\](\.\w+)")  # `model.layers[0].state`
_GRAD = ("torch.autograd.grad", "autograd.grad", "grad")
_ITEM = {"tuple": "each", "list": "each", "dict": "value"}


def detached(expression: str, holds: str) -> str | None:
    """The expression with every tensor in it detached; None where no expression can say that.

    `holds` reads from the outside in: "tensor", "tuple of tensor", "list of tuple of tensor".
    """
    kind, _, inner = holds.partition(" of ")
    if kind == "tensor":
        return f"{expression}.detach()"
    if kind not in _ITEM or not inner:
        return f"{expression}._make(each.detach() for each in {expression})" if holds == "named tuple" else None
    item = _ITEM[kind] if expression not in _ITEM.values() else f"inner_{_ITEM[kind]}"
    within = detached(item, inner)
    if within is None:
        return None
    match kind:
        case "tuple":
            return f"tuple({within} for {item} in {expression})"
        case "list":
            return f"[{within} for {item} in {expression}]"
    return f"{{key: {within} for key, {item} in {expression}.items()}}"


def detaching(name: str, holds: str, source: Source) -> list[str]:
    """The statements that leave every tensor detached in what a name holds; none where that cannot be written.

    "record h c" is an object whose attributes `h` and `c` are tensors, "frozen record h c" one that is made anew.
    """
    kind, _, rest = holds.partition(" ")
    if kind == "record":
        return [f"{name}.{field} = {name}.{field}.detach()" for field in rest.split()]
    if holds.startswith("frozen record "):
        fields = holds.removeprefix("frozen record ").split()
        copying = _replace(source)
        changed = ", ".join(f"{each}={name}.{each}.detach()" for each in fields)
        return [f"{name} = {copying}({name}, {changed})"] if copying is not None else []
    if holds == "deque of tensor":
        return [f"for index, each in enumerate({name}):\n    {name}[index] = each.detach()\n"]
    code = detached(name, holds)
    if code is not None and holds == "tensor" and _is_differentiated_by(name, source):
        code = f"{code}.requires_grad_()"
    return [] if code is None else [f"{name} = {code}"]


def is_added_to(name: str, source: Source) -> bool:
    """Whether the file adds to it as to a list: `queue.append(key)`."""
    adding = {f"{name}.{method}" for method in ("append", "appendleft", "extend", "insert")}
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) in adding for node in ast.walk(source.tree))


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
        layer = _unused(source)
        if inner := statements(f"{layer}{attribute[3]}"):
            found.append(f"for {layer} in {every}:\n" + indent("".join(f"{each.rstrip()}\n" for each in inner), "    "))
    return found


def _unused(source: Source) -> str:
    """A name for a loop that means nothing else in the file."""
    names = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    return next(
        each for each in ("layer", "part", *(f"part_{n}" for n in range(2, len(names) + 3))) if each not in names
    )


def _replace(source: Source) -> str | None:
    """How the file can say `dataclasses.replace`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
            for each in node.names:
                if each.name == "replace":
                    return each.asname or each.name
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name == "dataclasses":
                    return f"{each.asname or each.name}.replace"
    return None
