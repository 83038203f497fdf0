"""Losses within reach of the frame that asks for a pass: in its variables, and in what those hold."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from gradsan.facts.culprit import Holder
from gradsan.observe.naming.holders import variables
from gradsan.observe.unasked import attributes_of, ids, is_one

_ITEMS = 32  # of a dict, a tuple or a list; more is no set of losses
_OBJECTS = 400  # that are looked into
_NO_OBJECTS = ids(ModuleType, FunctionType, BuiltinFunctionType)
_SEQUENCES = ids(tuple, list)
_DEPTH = 6  # of modules within modules, from a variable


@dataclass(frozen=True, slots=True)
class Way:
    """How the user would write it, and by what it is read."""

    name: str
    holder: Holder
    variable: str  # of the frame
    key: str | int | None = None  # in the dict, tuple or list that is the variable
    attribute: str | None = None  # of whatever object


def losses_beside(frame: FrameType, snapshots: list[dict[str, Any]]) -> Iterator[tuple[Way, Any]]:
    """Tensors of one element, with a history of their own, and how they are reached.

    Nothing of the user's is run. `snapshots` are to be cleared when all is done.
    """
    import torch

    tensor, module = torch.Tensor, torch.nn.Module
    seen: set[int] = set()
    queue: list[tuple[object, Way, int]] = [
        (value, Way(name, "local", name), 0) for name, value in variables(frame, snapshots) if not name.startswith("__")
    ]
    while queue and len(seen) < _OBJECTS:
        each, way, depth = queue.pop(0)
        if type(each) is tensor:
            # A view's history may be made by looking at it.
            if each._base is None and each.numel() == 1 and each.grad_fn is not None:  # noqa: SLF001
                yield way, each
        elif id(each) not in seen:
            seen.add(id(each))
            queue += [(inner, further, depth + 1) for inner, further in _within(each, way, depth, module)]


def _within(each: Any, way: Way, depth: int, module: type) -> Iterator[tuple[object, Way]]:  # noqa: ANN401 # anything
    if type(each) is dict and len(each) <= _ITEMS and depth == 0:
        for key, value in list(each.items()):
            if type(key) is str:
                yield value, Way(f'{way.name}["{key}"]', "item", way.variable, key)
    elif id(type(each)) in _SEQUENCES and len(each) <= _ITEMS and depth == 0:
        for index, value in enumerate(list(each)):
            yield value, Way(f"{way.name}[{index}]", "item", way.variable, index)
    elif depth < _DEPTH and (depth == 0 or is_one(each, module)):
        yield from _attributes(each, way, is_module=is_one(each, module))


def _attributes(each: object, way: Way, *, is_module: bool) -> Iterator[tuple[object, Way]]:
    held = attributes_of(each)
    if held is None or id(type(each)) in _NO_OBJECTS or is_one(each, type):
        return
    for name, value in list(held.items()):
        if is_module and name == "_modules" and type(value) is dict:
            for key, child in list(value.items()):
                position = f"[{key}]" if str(key).isdigit() else f".{key}"
                yield child, Way(f"{way.name}{position}", "attribute", way.variable, attribute=str(key))
        elif not name.startswith("_"):
            yield value, Way(f"{way.name}.{name}", "attribute", way.variable, attribute=name)
