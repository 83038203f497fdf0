"""What only a running program can show of where its source is to be fixed. Read, never run: no property, no method."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from gradsan.facts.culprit import Culprit
from gradsan.facts.held import NONE, NUMBER, SOMETHING, TENSOR, Held, container, record
from gradsan.facts.held import Kind as Form
from gradsan.facts.incident import Incident, SecondPass, Stack
from gradsan.facts.live_evidence import Access, Alive, Crossed, GraphLine, LiveEvidence, TrainedName
from gradsan.observe.access_path import classes_of, has_graph, holders, inside, reached, trained_names
from gradsan.observe.crossings import other_crossings
from gradsan.observe.failure.scene import Scene
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.sites import Kind
from gradsan.observe.surroundings import surrounded
from gradsan.observe.unasked import is_one

_DEPTH = 3  # attributes between a variable and the object that holds the state
_ITEMS = 50  # of a container, that are looked at
_CONTAINERS: dict[type, Form] = {tuple: "tuple", list: "list", deque: "deque"}
_PLAIN = {id(type(None)): NONE, id(int): NUMBER, id(float): NUMBER, id(bool): NUMBER}
_OPS = 400  # whose lines are looked up
_LINES = 60
_BLOCKS = 12  # of the log, that are read


def live_evidence(incident: Incident, culprit: Culprit | None, scene: Scene) -> LiveEvidence:
    """What the name holds, how the function that asks for passes would write it, and which lines created the graph."""
    live = [each for each in reversed(scene.frames) if scene.owns(each.f_code.co_filename)]
    trained = tuple(TrainedName(each.f_code.co_qualname, name) for each in live for name in trained_names(each))
    alive = Alive() if culprit is None else _alive(culprit.name, incident, live, scene)
    found = LiveEvidence(alive, trained_names=trained)
    if not isinstance(incident, SecondPass):
        return found
    found = replace(found, freeing_places=len(_freeing(incident, scene)))
    if not scene.has_lines:
        return found
    lines = scene.lines
    found = replace(found, graph_lines=_graph_lines(incident, lines), is_one_call=_is_one_call(incident, lines))
    if culprit is None:
        return found
    others = other_crossings(incident, scene, culprit)
    return replace(found, crossings=tuple(_with_name(each, incident, live, scene) for each in others))


def _alive(name: str, incident: Incident, live: Sequence[FrameType], scene: Scene) -> Alive:
    """What it holds, and how a live function would write it."""
    held: Held | None = None
    for frame in live:
        there = reached(name, frame, classes_of(incident))
        if there is None:
            continue
        held = held or _holds(there.held)
        if "._" not in there.written:  # what a library hides in its objects is not for a program to write
            is_partial = holders(name, incident, scene.trained.modules) > 1 + len(there.beside)
            return Alive(held, Access(there.written, frame.f_code.co_qualname, there.beside, is_partial))
    return Alive(held)


def _with_name(crossed: Crossed, incident: SecondPass, live: Sequence[FrameType], scene: Scene) -> Crossed:
    """With what the program shows of its name."""
    there = surrounded(replace(incident, made=crossed.made, enters=crossed.enters))
    if not isinstance(there, SecondPass) or there.enters is None or crossed.culprit is None:
        return crossed
    alive = _alive(crossed.culprit.name, there, live, scene)
    return replace(crossed, made=there.made, enters=there.enters, alive=alive)


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


def _freeing(incident: SecondPass, scene: Scene) -> set[Stack]:
    """The places that asked for the passes which freed what is needed."""
    freeing = (each for each in scene.earlier if not each.retains)
    return {each.stack for each in freeing if any(map(each.walks, incident.consumed))}


def _graph_lines(incident: SecondPass, lines: Lines) -> tuple[GraphLine, ...]:
    """The lines of the user's, in any call, that took part in making the consumed part, and how many of its ops."""
    places = Counter[tuple[str, int]]()
    for number in sorted(incident.consumed, reverse=True)[:_OPS]:
        stack = lines.stack_of(number) or ()
        places.update(list(dict.fromkeys((frame.file, frame.line) for frame in stack)))
    return tuple(GraphLine(file, line, ops) for (file, line), ops in list(places.items())[:_LINES])


def _holds(each: object, depth: int = 0) -> Held:
    """Its form, from the outside in."""
    import torch

    if torch.Tensor in type(each).__mro__:
        return TENSOR
    if id(type(each)) in _PLAIN:
        return _PLAIN[id(type(each))]
    if depth > _DEPTH:
        return SOMETHING
    inside_of = _items(each)
    if inside_of is None:
        return _record(each)
    kind, items = inside_of
    return container(kind, [_holds(value, depth + 1) for value in items[:_ITEMS]])


def _items(each: object) -> tuple[Form, list[object]] | None:
    """What is in a container, and which that is; None where it is no plain one, whose methods are the user's."""
    kind = type(each)
    if tuple in kind.__mro__ and kind is not tuple:
        return "named tuple", list(tuple.__iter__(each))  # type: ignore[arg-type] # its class is asked above
    if kind is dict:
        return "dict", list(each.values())  # type: ignore[attr-defined] # a dict
    return (_CONTAINERS[kind], list(each)) if kind in _CONTAINERS else None  # type: ignore[call-overload] # one of these


def _record(each: object) -> Held:
    """An object of the program's own whose attributes are tensors, some or all."""
    import torch

    if is_one(each, torch.nn.Module):
        return SOMETHING
    fields = dict(inside(each))
    tensors = [name for name, value in fields.items() if is_one(value, torch.Tensor)]
    tensors = [name for name in tensors if has_graph(fields[name])] or tensors  # labels have none
    settings = getattr(type(each), "__dataclass_params__", None)
    return record(tensors, frozen=settings is not None and settings.frozen)
