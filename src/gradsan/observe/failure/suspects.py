"""The ops that may have saved a value which was edited in place since, read from the graph and PyTorch's message."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from gradsan.facts.incident import SavedValue, Suspect
from gradsan.knowledge.tensors import operation_of_node
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene, op_fact
from gradsan.observe.graph import (
    REARRANGING,
    VIEWING,
    Node,
    inverted,
    kind_of,
    parameters_behind,
    saves_values,
    version_of,
    writes_through_view,
)
from gradsan.observe.modules import buffers_beside

_AT_MOST = 24
_VIEW_OF_WHAT_WAS_EDITED = "AsStrided"  # as PyTorch calls one, whichever it was
_TAKERS_AT_MOST = 8


@dataclass(frozen=True, slots=True)
class _Candidate:
    saver: Node
    source: Node | None = None  # the op whose result it saved, where the graph has it
    edit: Node | None = None  # the op that the edit created, likewise
    is_leafs: bool = False  # it saved a leaf
    is_trained: bool = False  # which an optimizer owns


def suspects_in(graph: Graph, value: SavedValue, scene: Scene) -> tuple[Suspect, ...]:
    """The likeliest first."""
    found: dict[Node, Suspect] = {}
    candidates = _Candidates(graph, value, scene)
    for each in candidates:
        if each.saver not in found and len(found) < _AT_MOST:
            found[each.saver] = Suspect(
                saver=op_fact(each.saver, graph, {}, scene),
                source=None if each.source is None else op_fact(each.source, graph, {}, scene),
                edit=None if each.edit is None else op_fact(each.edit, graph, {}, scene),
                takers=tuple(op_fact(taker, graph, {}, scene) for taker in candidates.takers_of(each.source)),
                is_leafs=each.is_leafs,
                is_trained=each.is_trained,
            )
    return tuple(found.values())


def is_seen_through(leaf: Any, value: SavedValue) -> bool:  # noqa: ANN401 # a tensor
    """Whether a value is a leaf, or seen through it: then both count the same edits.

    What has no history is no view of a leaf; it may still be saved with its dimensions in another order.
    """
    is_view = value.op is not None
    if is_view and value.op not in REARRANGING:
        return False
    return version_of(leaf) == value.version and (is_view or sorted(leaf.shape) == sorted(value.shape))


def bare(name: str) -> str:
    """The name of an op without what stands before and after: the message and the op itself write it differently."""
    return name.rpartition("::")[2].split("Backward", maxsplit=1)[0]


class _Candidates:
    def __init__(self, graph: Graph, value: SavedValue, scene: Scene) -> None:
        self._graph = graph
        self._scene = scene
        self._value = value
        self._newest = sorted(graph.number, key=graph.number.__getitem__, reverse=True)
        self._above = inverted({node: graph.below[node] for node in self._newest})

    def __iter__(self) -> Iterator[_Candidate]:
        value = self._value
        if value.op is None or value.op in REARRANGING:
            yield from self._of_leaves()
        if value.op is None:
            yield from self._of_data()
            return
        fitting = [node for node in self._newest if _has_shape(node, value.shape)]
        named = [node for node in fitting if bare(node.name()) == value.op]
        yield from (_Candidate(node, node) for node in filter(_saves_result, named))
        yield from chain.from_iterable(map(self._replaced_by, named))
        if value.op == _VIEW_OF_WHAT_WAS_EDITED:
            yield from chain.from_iterable(map(self._replaced_behind, fitting))
        elif not named:
            yield from self._hidden_in_writes()
        yield from (_Candidate(saver, source) for source in (*named, *fitting) for saver in self._savers_of(source))
        if value.op in REARRANGING:  # it may be a view of what was written into since, and had no graph before
            yield from self._of_data()

    def _of_leaves(self) -> Iterator[_Candidate]:
        """A parameter that no optimizer has changed."""
        for node in filter(saves_values, self._newest):
            leaves = parameters_behind(node, self._graph.below)
            edited = [leaf for leaf in leaves if is_seen_through(leaf, self._value)]
            if edited:
                is_trained = any(id(leaf) in self._scene.owners for leaf in edited)
                yield _Candidate(node, is_leafs=True, is_trained=is_trained)

    def _of_data(self) -> Iterator[_Candidate]:
        """What needs no gradient, a buffer say, leaves a gap among an op's inputs, or is saved beside them."""
        for node in self._newest:
            if saves_values(node) and any(each is None for each, _ in node.next_functions):
                yield _Candidate(node)
            elif hasattr(type(node), "_raw_saved_running_mean") and self._is_statistics_of(node):
                yield _Candidate(node, is_leafs=True)

    def _is_statistics_of(self, node: Node) -> bool:
        """Whether a buffer of the layer that created an op was edited as often as PyTorch says."""
        leaves = parameters_behind(node, self._graph.below)
        buffers = (buffer for leaf in leaves for buffer in self._buffers.get(id(leaf), ()))
        return any(is_seen_through(buffer, self._value) for buffer in buffers)

    @cached_property
    def _buffers(self) -> dict[int, list[Any]]:
        return buffers_beside(self._scene.trained.modules)

    def _replaced_by(self, edit: Node) -> Iterator[_Candidate]:
        """An edit that was recorded stands in the place of the tensor's graph."""
        source = next((each for each, _ in edit.next_functions), None)
        number = self._graph.number
        for saver in self._savers_of(source):
            if saver is not edit and number[saver] < number[edit]:
                yield _Candidate(saver, source, edit)

    def _replaced_behind(self, view: Node) -> Iterator[_Candidate]:
        """The edit of what it is a view of stands beside the view, or beside the one that this is a view of."""
        number, base = self._graph.number, view
        savers = list(self._savers_of(view))
        while savers and kind_of(base) in VIEWING and (below := base.next_functions[0][0]) is not None:
            base = below
            edits = [each for each in self._above.get(base, ()) if _stands_for(each, base)]
            yield from (_Candidate(one, view, edit) for one in savers for edit in edits if number[one] < number[edit])

    def _hidden_in_writes(self) -> Iterator[_Candidate]:
        """An op that wrote through a view is not seen itself: what it gave has as many edits as its base had then."""
        bases = [each for each in self._newest if each in self._written_by and not writes_through_view(each)]
        fitting = [each for each in map(self._writes_over, bases) if len(each) == self._value.version]
        if len(fitting) == 1 and 0 < self._value.expected < self._value.version:
            saver, edit = fitting[0][self._value.expected - 1 : self._value.expected + 1]
            yield _Candidate(saver, saver, edit)

    def _writes_over(self, base: Node) -> list[Node]:
        """The writes through views of what an op gave, the oldest first: each stands in the place of the one before."""
        found: list[Node] = []
        while base in self._written_by:
            base = self._written_by[base]
            found.append(base)
        return found

    @cached_property
    def _written_by(self) -> dict[Node, Node]:
        return {each.next_functions[0][0]: each for each in self._newest if writes_through_view(each)}

    def takers_of(self, source: Node | None) -> list[Node]:
        """The ops that were created of an op's result and are of its size."""
        return [each for each in self._above.get(source, ()) if _has_shape(each, self._value.shape)][:_TAKERS_AT_MOST]

    def _savers_of(self, source: Node) -> Iterator[Node]:
        return (each for each in self._above.get(source, ()) if saves_values(each) and _saves_input(each, source))


def _has_shape(node: Node, shape: tuple[int, ...]) -> bool:
    metadata = getattr(node, "_input_metadata", None) or ()
    return any(tuple(int(size) for size in each.shape) == shape for each in metadata)


def _stands_for(node: Node, base: Node) -> bool:
    """Whether an op may be the edit of what another one created."""
    return node.next_functions[0][0] is base and kind_of(node) not in VIEWING


def _saves_input(node: Node, source: Node) -> bool:
    """Whether an op may have saved what an op before it created: what is scaled by a number was not needed for that."""
    inputs = [each for each, _ in node.next_functions]
    factors = operation_of_node(kind_of(node)).factors
    places = [place for place, each in enumerate(inputs) if each is source]
    others = {place: [each for at, each in enumerate(inputs) if at != place and each is not None] for place in places}
    return any(place not in factors or others[place] for place in places)


def _saves_result(node: Node) -> bool:
    return any(name.startswith("_raw_saved_result") or name == "saved_tensors" for name in dir(type(node)))
