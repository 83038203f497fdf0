"""What only a running program can tell of where its source is to be mended. Read, never run: no property, no method."""

from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType

from gradsan.lifecycle.incident import Incident, SecondPass
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.sites import Kind
from gradsan.observe.reaching import has_history, inside, reached
from gradsan.observe.unasked import is_one
from gradsan.report import Culprit

_DEPTH = 3  # attributes between a variable and the object that holds the state
_OPS = 400  # whose lines are looked up
_LINES = 60
_BLOCKS = 12  # of the log, that are read


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
    if isinstance(incident, SecondPass) and lines is not None and _is_one_call(incident, lines):
        found["passes_of_one_call"] = "yes"
    if culprit is not None:
        live = [each for each in reversed(frames) if owns(each.f_code.co_filename)]
        for frame in live:
            there = reached(culprit.name, frame, incident)
            if there is None:
                continue
            found.setdefault("holds", _holds(there.held))
            if "._" not in there.written:  # what a library hides in its objects is not for a program to write
                found |= {"reached_as": there.written, "reached_in": frame.f_code.co_qualname}
                if there.beside:
                    found["reached_beside"] = "\n".join(there.beside)
                break
    return found


def _is_one_call(incident: SecondPass, lines: Lines) -> bool:
    """Whether one run of a statement asked for both passes: then the loop between them is a library's."""
    failing, freeing = incident.failing, incident.freeing
    if failing.stack != freeing.stack or not failing.stack or incident.enters is None:
        return False
    asking = failing.stack[-1]
    events = (each for stretch in lines.replay(freeing.begin, None, blocks=_BLOCKS) for each in stretch.events)
    return not any(
        kind is Kind.LINE
        and number >= freeing.begin
        and (code.file, code.function, line) == (asking.file, asking.function, asking.line)
        for (kind, code, line), number, _ in events
    )


def _graph_lines(incident: SecondPass, lines: Lines) -> str:
    """The lines of the user's, in any call, that took part in making the consumed part: "model.py:31 train.py:58"."""
    places: dict[str, None] = {}
    for number in sorted(incident.consumed, reverse=True)[:_OPS]:
        for frame in lines.stack_of(number) or ():
            places[f"{frame.file}:{frame.line}"] = None
    return "\n".join(list(places)[:_LINES])


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

    if is_one(each, torch.nn.Module):
        return "something"
    fields = dict(inside(each))
    tensors = [name for name, value in fields.items() if is_one(value, torch.Tensor)]
    tensors = [name for name in tensors if has_history(fields[name])] or tensors  # labels have none
    settings = getattr(type(each), "__dataclass_params__", None)
    if settings is not None and settings.frozen:
        return f"frozen record {' '.join(tensors)}" if tensors else "something"
    return f"record {' '.join(tensors)}" if tensors else "something"
