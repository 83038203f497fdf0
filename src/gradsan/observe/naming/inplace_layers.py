"""The layer with `inplace=True` that edited a tensor in a library's container, as the user's own line would reach it.

A line says `self.gate(x)`, and somewhere in that `nn.Sequential` a layer edits what the one before it saved. No line of
the user's names either. The live modules do: from the attribute that the line calls, down to the layer.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from types import FrameType
from typing import Any

from gradsan.facts.incident import Suspect
from gradsan.facts.location import Frame
from gradsan.knowledge.module_classes import module_class
from gradsan.observe.living import instances
from gradsan.observe.naming.live_values import value_of
from gradsan.observe.user_statements import statements_at
from gradsan.source.stores import calls, spelled


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that edits what it is given."""

    name: str  # `self.gate[2]`
    kind: str  # `Hardtanh`
    is_first: bool  # it edits what the user's line gave to the container
    before: str  # the class of the layer before it; empty: there is none

    @property
    def op(self) -> str:
        """The plain name of the op that it makes."""
        return module_class(self.kind).op or _plain(self.kind)


def layer_behind(suspects: Sequence[Suspect], where: Frame, frames: Sequence[FrameType]) -> Layer | None:
    """The layer that a line of the user's led to, if just one can have made the edit. `frames` are the live ones."""
    called = (call.func for statement in statements_at(where) for call in calls(statement))
    reached = ((spelled(each), module) for each in called for module in _modules(each, where, frames))
    found = {layer.name: layer for name, module in reached for layer in _in_place(name, module)}
    created = {_plain(op.name) for each in suspects for op in (each.edit, *each.takers) if op is not None}
    savers = {_plain(each.saver.name) for each in suspects}
    alike = [each for each in found.values() if each.op in created]
    behind = [each for each in alike if _plain(each.before) in savers]
    likely = behind or alike or list(found.values())
    return likely[0] if len(likely) == 1 else None


def _modules(func: ast.expr, where: Frame, frames: Sequence[FrameType]) -> list[Any]:
    """The live modules that an expression may have meant: of an object that is gone, those of its class."""
    from torch import nn

    head, *rest = spelled(func).split(".")
    if head != "self":
        values = (value_of(func, each) for each in frames)
        return [each for each in values if nn.Module in type(each).__mro__]
    owner = where.function.split(".")[-2:-1]
    alike = (each for each in instances(nn.Module) if any(kind.__name__ in owner for kind in type(each).__mro__))
    parts = (reduce(_part, rest, each) for each in alike if rest)
    return [each for each in parts if each is not None]


def _part(module: Any, name: str) -> Any:  # noqa: ANN401 # an nn.Module, or None
    return _children(module).get(name)


def _children(module: Any) -> dict[str, Any]:  # noqa: ANN401 # as above
    return {} if module is None else vars(module).get("_modules", {})


def _in_place(name: str, container: Any) -> Iterator[Layer]:  # noqa: ANN401 # an nn.Module
    """The layers in a container that edit what they are given."""
    waiting: list[tuple[str, Any, bool]] = [(name, container, True)]
    before = ""
    while waiting:
        called, module, is_first = waiting.pop()
        children = [(key, each) for key, each in _children(module).items() if each is not None]
        if not children:
            kind = type(module).__name__
            if vars(module).get("inplace") is True and module is not container:
                yield Layer(called, kind, is_first, before)
            before = kind
        for place, (key, child) in reversed(list(enumerate(children))):
            inner = f"{called}[{key}]" if key.isdigit() else f"{called}.{key}"
            waiting.append((inner, child, is_first and place == 0))


def _plain(name: str) -> str:
    """`ReLU` and `ReluBackward0` are the same."""
    return name.split("Backward", maxsplit=1)[0].lower().replace("_", "")
