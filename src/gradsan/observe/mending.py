"""What only a running program can tell of where its source is to be mended. Read, never run: no property, no method."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from gradsan.lifecycle.incident import Incident, SecondPass
from gradsan.observe.log.lines import Lines
from gradsan.report import Culprit

_DEPTH = 3  # attributes between a variable and the object that holds the state
_OBJECTS = 3_000
_OPS = 400  # whose lines are looked up
_LINES = 60
_UNHELD = 3  # references to a snapshot that nobody else holds: the frame's, a local, and the count's own


def evidence(
    incident: Incident,
    culprit: Culprit | None,
    frames: Sequence[FrameType],
    lines: Lines | None,
    owns: Callable[[str], bool],
) -> dict[str, str]:
    """What the name holds, how the function that asks for passes would write it, and which lines made the graph."""
    found: dict[str, str] = {}
    if isinstance(incident, SecondPass) and lines is not None and (text := _graph_lines(incident, lines)):
        found["graph_lines"] = text
    if culprit is not None:
        live = [each for each in reversed(frames) if owns(each.f_code.co_filename)]
        for frame in live:
            reached = _reached(culprit.name, frame, incident)
            if reached is not None:
                found |= {"reached_as": reached[0], "reached_in": frame.f_code.co_qualname, "holds": _holds(reached[1])}
                break
    return found


def _graph_lines(incident: SecondPass, lines: Lines) -> str:
    """The lines of the user's, in any call, that took part in making the consumed part: "model.py:31 train.py:58"."""
    places: dict[str, None] = {}
    for number in sorted(incident.consumed, reverse=True)[:_OPS]:
        for frame in lines.stack_of(number) or ():
            places[f"{frame.file}:{frame.line}"] = None
    return "\n".join(list(places)[:_LINES])


def _reached(name: str, frame: FrameType, incident: Incident) -> tuple[str, object] | None:
    """How this function writes what the culprit's name means, and what it holds now."""
    variables = frame.f_locals
    # Before Python 3.13 this leaves a snapshot that keeps tensors alive; it is cleared, unless the program has it too.
    is_ours = bool(frame.f_code.co_flags & 1) and type(variables) is dict and sys.getrefcount(variables) <= _UNHELD
    try:
        root, *attributes = name.split(".")
        if "[" in name:
            return None
        if root != "self" or not attributes:
            return _follow(name, variables.get(root), attributes) if root in variables else None
        owners = _classes_of(incident)
        if frame.f_code.co_qualname.rpartition(".")[0] in owners:
            found = _follow(name, variables.get("self"), attributes)
            if found is not None:
                return found
        for path, each in _objects(variables):
            if type(each).__qualname__ in owners and (found := _follow(path, each, attributes, named=False)):
                return found
        return None
    finally:
        if is_ours:
            variables.clear()


def _classes_of(incident: Incident) -> set[str]:
    """The classes in whose methods `self` may have been said."""
    enters = getattr(incident, "enters", None) or getattr(incident, "made", None)
    return {frame.function.rpartition(".")[0] for frame in (enters.stack if enters is not None else ())} - {""}


def _follow(name: str, each: object, attributes: list[str], *, named: bool = True) -> tuple[str, object] | None:
    for attribute in attributes:
        inner = dict(_inside(each))
        if attribute not in inner:
            return None
        each = inner[attribute]
        name = name if named else f"{name}.{attribute}"
    return name, each


def _objects(variables: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The objects within reach of a function's variables, nearest first, and how to write them."""
    layer: list[tuple[str, object]] = [(name, each) for name, each in list(variables.items()) if name.isidentifier()]
    seen: set[int] = set()
    for _ in range(_DEPTH):
        further = []
        for path, each in layer:
            if id(each) in seen or len(seen) > _OBJECTS:
                continue
            seen.add(id(each))
            yield path, each
            further += [(f"{path}.{name}", inner) for name, inner in _inside(each)]
        layer = further


def _inside(each: object) -> Iterator[tuple[str, object]]:
    """Attributes that lie there; a module's parts too."""
    try:
        attributes = object.__getattribute__(each, "__dict__")
    except AttributeError:
        return
    if type(attributes) is not dict:
        return
    for name, value in list(attributes.items()):
        if name in {"_modules", "_buffers"} and type(value) is dict:
            yield from ((key, inner) for key, inner in list(value.items()) if key.isidentifier())
        else:
            yield name, value


def _holds(each: object, depth: int = 0) -> str:
    """Its shape from the outside in: "tensor", "tuple of tensor"."""
    import torch

    kind = type(each)
    if torch.Tensor in kind.__mro__:
        return "tensor"
    if depth > _DEPTH:
        return "something"
    if tuple in kind.__mro__ and kind is not tuple:
        values: list[object] = list(tuple.__iter__(each))  # type: ignore[arg-type] # its class is asked above
        return "named tuple" if all(_holds(value) == "tensor" for value in values) else "something"
    inner: list[object] | None = None
    if kind in {tuple, list, deque}:
        inner = list(each)  # type: ignore[call-overload] # one of these
    elif kind is dict:
        inner = list(each.values())  # type: ignore[attr-defined] # a dict
    if inner is None:
        return _record(each)
    shapes = {_holds(value, depth + 1) for value in inner[:50]}
    return f"{kind.__name__} of {shapes.pop()}" if len(shapes) == 1 else "something"


def _record(each: object) -> str:
    """An object of the program's own whose attributes are tensors, some or all."""
    import torch

    if isinstance(each, torch.nn.Module):
        return "something"
    fields = dict(_inside(each))
    tensors = [name for name, value in fields.items() if torch.Tensor in type(value).__mro__]
    settings = getattr(type(each), "__dataclass_params__", None)
    if settings is not None and settings.frozen:
        return f"frozen record {' '.join(tensors)}" if tensors else "something"
    return f"record {' '.join(tensors)}" if tensors else "something"
