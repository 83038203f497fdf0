"""Losses within reach of the frame that asks for a pass: in its variables, and in what those hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from gradsan.facts.culprit import Holder
from gradsan.observe.unasked import ids, is_one, named_attributes

_ITEMS = 32  # of a dict, a tuple or a list; more is no set of losses
_OBJECTS = 400  # that are looked into
_NO_OBJECTS = ids(ModuleType, FunctionType, BuiltinFunctionType)
_CONTAINERS = ids(dict, tuple, list)
_DEPTH = 6  # of modules within modules, from a variable


@dataclass(frozen=True, slots=True)
class LossPath:
    """How the user would write it, and by what it is read."""

    name: str
    holder: Holder
    variable: str  # of the frame
    keys: tuple[str | int, ...] = ()  # each of which reaches it in the dict, tuple or list that is the variable
    attribute: str | None = None  # of whatever object


def losses_beside(variables: Mapping[str, Any]) -> Iterator[tuple[LossPath, Any]]:
    """Tensors of one element, with a graph of their own, and how they are reached. Nothing of the user's is run."""
    import torch

    tensor, module = torch.Tensor, torch.nn.Module
    seen: set[int] = set()
    named = [(name, value) for name, value in list(variables.items()) if not name.startswith("__")]
    queue: list[tuple[object, LossPath, int]] = [(value, LossPath(name, "local", name), 0) for name, value in named]
    while queue and len(seen) < _OBJECTS:
        each, path, depth = queue.pop(0)
        if type(each) is tensor:
            # A view's graph may be created by looking at it.
            if each._base is None and each.numel() == 1 and each.grad_fn is not None:  # noqa: SLF001
                yield path, each
        elif id(each) not in seen:
            seen.add(id(each))
            queue += [(inner, further, depth + 1) for inner, further in _within(each, path, depth, module)]


def _within(each: Any, path: LossPath, depth: int, module: type) -> Iterator[tuple[object, LossPath]]:  # noqa: ANN401 # anything
    if depth == 0 and id(type(each)) in _CONTAINERS:
        items = list(each.items() if type(each) is dict else enumerate(each)) if len(each) <= _ITEMS else []
        for key, value in items:
            if type(key) is str or type(each) is not dict:
                keys = (key,) if type(each) is dict else (key, key - len(each))
                yield value, LossPath(f"{path.name}[{_written(key)}]", "item", path.variable, keys)
    elif depth == 0 or (depth < _DEPTH and is_one(each, module)):
        yield from _attributes(each, path, is_module=is_one(each, module))


def _written(key: str | int) -> str:
    return f'"{key}"' if type(key) is str else str(key)


def _attributes(each: object, path: LossPath, *, is_module: bool) -> Iterator[tuple[object, LossPath]]:
    if id(type(each)) in _NO_OBJECTS or is_one(each, type):
        return
    for name, value in named_attributes(each):
        if is_module and name == "_modules" and type(value) is dict:
            for key, child in list(value.items()):
                position = f"[{key}]" if str(key).isdigit() else f".{key}"
                yield child, LossPath(f"{path.name}{position}", "attribute", path.variable, attribute=str(key))
        elif not name.startswith("_"):
            yield value, LossPath(f"{path.name}.{name}", "attribute", path.variable, attribute=name)
