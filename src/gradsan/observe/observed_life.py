"""From the graph of a failing pass to a life that can be replayed with one thing changed."""

from collections.abc import Iterable
from typing import Any

from gradsan.facts.incident import Edited as EditedIncident
from gradsan.facts.incident import Incident, SecondPass
from gradsan.knowledge.tensors import operation_of_node
from gradsan.lifecycle.events import Created, Event, Life, Pass, Stepped, Walked
from gradsan.lifecycle.ops import Leaf, Op, Port, Saved
from gradsan.lifecycle.recording import Recording
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene
from gradsan.observe.graph import (
    Node,
    about_bytes,
    kind_of,
    leaves_of,
    parameters_behind,
    saves_values,
    writes_through_view,
)
from gradsan.observe.notes import PassNote

_OPS = 1_000  # of a longer graph nothing is predicted: it would take too long in a dying process


def recorded(incident: Incident, scene: Scene) -> Recording | None:
    """The recording of a failure; None where the graph is too large, or nothing old is in it."""
    if not isinstance(incident, SecondPass | EditedIncident):
        return None
    graph = scene.graph
    return None if len(graph.number) > _OPS else _Recorder(scene, graph).recording(incident)


class _Recorder:
    def __init__(self, scene: Scene, graph: Graph) -> None:
        self._scene = scene
        self._below = graph.below
        self._numbers = graph.number
        self._fresh = max(graph.number.values(), default=0) + 1
        self._complete = True
        self._leaves: dict[Node, Leaf] = {}
        self._of: dict[int, Leaf] = {}  # by the id of the tensor
        names = scene.modules
        for node in graph.below:
            for leaf in leaves_of([node]):
                created = Leaf(self._fresh, names.get(id(leaf), "a tensor"), self._fresh)
                self._leaves[node] = self._of[id(leaf)] = created
                self._fresh += 1

    def recording(self, incident: SecondPass | EditedIncident) -> Recording | None:
        earlier = [each for each in self._scene.earlier if self._walked_by(each)]
        old = self._old(incident, earlier)
        crossing = frozenset(
            (self._numbers[node], self._port(each, index))
            for node in self._numbers
            if self._numbers[node] not in old
            for each, index in node.next_functions
            if each is not None and self._numbers.get(each) in old
        )
        if not old or not crossing:
            return None
        events = [event for _, _, event in sorted(self._events(earlier), key=lambda each: each[:2])]
        begins = next(
            (at for at, event in enumerate(events) if isinstance(event, Created) and event.op.id > max(old)),
            len(events),
        )
        failing = Pass(self._scene.note.index, self._tops(set(self._numbers.values())))
        storages = {number: about_bytes(node) for node, number in self._numbers.items()}
        storages |= dict.fromkeys((each.storage for each in self._leaves.values()), 0)
        life = Life(tuple(self._leaves.values()), storages, (*events, Walked(failing)))
        passes = frozenset(each.index for each in earlier)
        owners = {leaf.id: frozenset(map(str, self._scene.owners.get(tensor, ()))) for tensor, leaf in self._of.items()}
        return Recording(life, crossing, old, passes, failing.id, begins, owners, complete=self._complete)

    def _old(self, incident: SecondPass | EditedIncident, earlier: list[PassNote]) -> frozenset[int]:
        """What earlier passes freed; for an edit, what is older than the step."""
        here = set(self._numbers.values())
        if isinstance(incident, SecondPass):
            return frozenset(incident.consumed & here)
        created = None if incident.made is None else incident.made.number
        return (
            frozenset(number for number in here if created is not None and number <= created)
            if earlier
            else frozenset()
        )

    def _events(self, earlier: Iterable[PassNote]) -> Iterable[tuple[int, int, Event]]:
        """In the order of the op counter; what happened at the same count follows the ops created before it."""
        for node, number in self._numbers.items():
            yield number, 0, Created(self._op(node))
        first = self._scene.note.index
        for each in earlier:
            first = min(first, each.index)
            walked = {number for number in self._numbers.values() if each.walks(number)}
            yield each.begin - 1, 1, Walked(Pass(each.index, self._tops(walked), retain_graph=each.retains))
        owners = self._scene.owners
        for step in self._scene.steps.since(first):
            owned = (leaf.id for tensor, leaf in self._of.items() if step.optimizer in owners.get(tensor, ()))
            yield step.number - 1, 2, Stepped(str(step.optimizer), tuple(owned))

    def _walked_by(self, note: PassNote) -> bool:
        return (
            note.thread == self._scene.note.thread
            and note.walked is not None
            and any(note.walks(number) for number in self._numbers.values())
        )

    def _tops(self, walked: set[int]) -> tuple[Port, ...]:
        """Where a pass entered this graph: what it walked, and nothing else that it walked led to."""
        under = {
            self._numbers.get(each) for node, n in self._numbers.items() if n in walked for each in self._below[node]
        }
        return tuple(Port(number) for number in sorted(walked - {each for each in under if each is not None}))

    def _op(self, node: Node) -> Op:
        number = self._numbers[node]
        inputs = tuple(None if each is None else self._port(each, index) for each, index in node.next_functions)
        saves: tuple[Saved, ...] = ()
        if saves_values(node):
            saves = (Saved(number), *self._operands(node, inputs))
        return Op(number, node.name(), inputs, saves, gives_up_more=writes_through_view(node), result=number)

    def _operands(self, node: Node, inputs: tuple[Port | None, ...]) -> Iterable[Saved]:
        """Parameters that the op saved: one operand is needed only where another wants a gradient."""
        behind: list[Any] = parameters_behind(node, self._below)
        row = operation_of_node(kind_of(node))
        self._complete &= not behind or not row.is_assumed
        others = sum(each is not None for each in inputs) > len(behind)
        if others if row.factors else row.inputs:
            yield from (Saved(self._of[id(leaf)].storage) for leaf in behind)

    def _port(self, node: Node, index: int) -> Port:
        if node in self._leaves:
            return Port(self._leaves[node].id)
        return Port(self._numbers.get(node, -1), index)
