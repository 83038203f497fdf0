"""The layer with `inplace=True` that edited a tensor in a library's container, as the user's own line would reach it.

A line says `self.gate(x)`, and somewhere in that `nn.Sequential` a layer edits what the one before it saved. No line of
the user's names either. The live modules do: from the attribute that the line calls, down to the layer.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradsan.facts.incident import Suspect
from gradsan.facts.location import Frame
from gradsan.knowledge.module_classes import module_class
from gradsan.observe.living import instances
from gradsan.observe.naming.looking import value_of
from gradsan.source.scopes import scope_of
from gradsan.source.stores import calls, text


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that edits what it is given."""

    name: str  # `self.gate[2]`
    kind: str  # `Hardtanh`
    is_first: bool  # it edits what the user's line gave to the container


def layer_behind(suspects: Sequence[Suspect], where: Frame, frames: Sequence[FrameType]) -> Layer | None:
    """The layer that a line of the user's led to, if just one can have made the edit. `frames` are the live ones."""
    scope = scope_of(where.file, where.function, where.line)
    found: dict[str, tuple[Layer, str | None]] = {}
    for statement in () if scope is None else scope.by_line.get(where.line, ()):
        for call in calls(statement):
            name = text(call.func)
            for module in () if name is None else _modules(call.func, name, where, frames):
                for layer, before in _in_place(name or "", module):
                    found[layer.name] = (layer, before)
    made = {_plain(op.name) for each in suspects for op in (each.edit, *each.takers) if op is not None}
    savers = {_plain(each.saver.name) for each in suspects}
    alike = [each for each in found.values() if (module_class(each[0].kind).op or _plain(each[0].kind)) in made]
    behind = [each for each in alike if each[1] is not None and _plain(each[1]) in savers]
    likely = behind or alike or list(found.values())
    return likely[0][0] if len(likely) == 1 else None


def _modules(func: ast.expr, name: str, where: Frame, frames: Sequence[FrameType]) -> Iterator[Any]:
    """The live modules that an expression may have meant: of an object that is gone, those of its class."""
    from torch import nn

    head, *rest = name.split(".")
    if head != "self":
        for value in (value_of(func, each) for each in frames):
            if nn.Module in type(value).__mro__:
                yield value
        return
    owner = where.function.split(".")[-2] if "." in where.function else None
    for module in instances(nn.Module):
        if any(each.__name__ == owner for each in type(module).__mro__):
            for attribute in rest:
                module = vars(module).get("_modules", {}).get(attribute) if module is not None else None  # noqa: PLW2901
            if rest and module is not None:
                yield module


def _in_place(name: str, container: Any) -> Iterator[tuple[Layer, str | None]]:  # noqa: ANN401 # an nn.Module
    """The layers in a container that edit what they are given, each with the class of the one before it."""
    waiting: list[tuple[str, Any, bool]] = [(name, container, True)]
    before: str | None = None
    while waiting:
        called, module, is_first = waiting.pop()
        children = [(key, each) for key, each in vars(module).get("_modules", {}).items() if each is not None]
        if not children:
            kind = type(module).__name__
            if vars(module).get("inplace") is True and module is not container:
                yield Layer(called, kind, is_first), before
            before = kind
        for place, (key, child) in reversed(list(enumerate(children))):
            inner = f"{called}[{key}]" if key.isdigit() else f"{called}.{key}"
            waiting.append((inner, child, is_first and place == 0))


def _plain(name: str) -> str:
    """`ReLU` and `ReluBackward0` are the same."""
    return name.split("Backward", maxsplit=1)[0].lower().replace("_", "")
