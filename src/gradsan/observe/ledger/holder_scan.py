"""A scan of who holds graphs: every tensor with a graph within reach of the user's frames, by the name that holds it.

What was created since the last step of the optimizer that owns its parameters is work in progress. What is older, and
is not walked by the latest pass, is held.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any, Self

from gradsan.observe.graph import Node, about_bytes, leaves_of, reach, saves_values
from gradsan.observe.naming.holders import Held, Search
from gradsan.observe.private import NO_NUMBER

_OPS_WALKED = 12_000  # of one holder
_SAMPLED = 8  # tensors of one holder whose graphs are walked
_POSITION = re.compile(r"\[-?\d+\]")
_LONGEST_WINDOW = 1000  # a queue that can hold no more than this is bounded; a longer one is a leak while it fills


@dataclass(slots=True)
class Sighting:
    """What one name held at one moment."""

    name: str
    holder: str
    function: str
    owner: str | None
    newest: int  # the creation number of the newest tensor's op
    reach: dict[int, int]  # the ops that were walked, by creation number: the steps that had been done then
    step: int  # of the optimizer that owns their parameters
    steps: list[int]  # the steps in which what it holds was created, rising, each once
    ops: int
    saved_bytes: int
    is_bounded: bool
    by_optimizer: bool  # False: no optimizer owns what it reaches, and passes stand for steps
    of_numbers: bool  # each tensor has one element

    def is_used_by(self, latest: "LatestPass") -> bool:
        """Whether a pass comes to what it holds of each step: the one after an unrolled loop does."""
        used = {step for number, step in self.reach.items() if latest.walks(number)}
        return used >= set(self.steps).intersection(self.reach.values())


@dataclass(slots=True)
class Timeline:
    """Who stepped when: op counters, by the ids of the parameters concerned."""

    owned: list[tuple[set[int], "array[int]"]] = field(default_factory=list)  # of optimizers
    reached: list[tuple[set[int], "array[int]"]] = field(default_factory=list)  # of lines that ask for passes

    def of(self, leaves: set[int]) -> tuple["array[int]", bool]:
        """The steps that use up graphs which reach these leaves, and whether they are an optimizer's."""
        owners = [numbers for owned, numbers in self.owned if not leaves.isdisjoint(owned)]
        if owners:
            return min(owners, key=len), True
        passes = [numbers for reached, numbers in self.reached if not leaves.isdisjoint(reached)]
        return min(passes, key=len, default=array("Q")), False


@dataclass(frozen=True, slots=True)
class LatestPass:
    """The pass that is about to run; when the program is over, the last one that ran."""

    walks: Callable[[int], bool]  # an op of that number
    begin: int | None = None  # the op counter then; None: it is about to run

    def steps_before(self, steps: "array[int]") -> "array[int]":
        """Those of some steps that were done before it."""
        return steps if self.begin is None else steps[: bisect_left(steps, self.begin)]


class HeldGraphs(Search):
    """Tensors that have a graph."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        super().__init__(owns)
        self.nodes: dict[int, Node] = {}
        self.larger: set[int] = set()  # creation numbers of tensors that have more than one element, or none
        self.groups: dict[tuple[str, str], list[Held]] = defaultdict(list)  # by container, and function
        self.bounded: set[str] = set()
        self._modules: set[str] = set()  # by the names that lead to them

    def search(self, frames: Sequence[FrameType], modules: Sequence[ModuleType]) -> Self:
        """Find them all."""
        for module in modules:
            self.start_with(vars(module))
        for each in self.run(frames):
            self.groups[(self.container(each.name), each.function)].append(each)
        return self

    def _judge(self, tensor: Any) -> tuple[int, bool] | None:  # noqa: ANN401 # a tensor
        try:
            # Reading the op of a view whose base was edited would make one.
            node = tensor._base.grad_fn if tensor._base is not None and tensor._version else tensor.grad_fn  # noqa: SLF001
            is_number = self._tensor.numel(tensor) == 1  # type: ignore[attr-defined] # torch's class
        except (RuntimeError, NotImplementedError):
            return None
        number = NO_NUMBER if node is None else node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
        if number == NO_NUMBER:
            return None
        self.nodes[number] = node
        if not is_number:
            self.larger.add(number)
        return number, True

    def _search(self, each: object, access: Any, snapshots: list[dict[str, Any]]) -> None:  # noqa: ANN401 # the search's own
        if type(each) is deque and each.maxlen is not None and each.maxlen <= _LONGEST_WINDOW:
            self.bounded.add(access.name)
        if issubclass(type(each), self._module):
            self._modules.add(access.name)
        super()._search(each, access, snapshots)

    def container(self, name: str) -> str:
        """Without what follows a position in a list, which no user would write; those of modules are names."""
        places = (each.start() for each in _POSITION.finditer(name))
        return name[: next((each for each in places if name[:each] not in self._modules), len(name))]


def sightings(search: HeldGraphs, timeline: Timeline, latest: LatestPass) -> list[Sighting]:
    """Everything that is held now, and not for the latest pass."""
    seen = (_sighting(held, search, timeline, latest) for held in search.groups.values())
    return [each for each in seen if each is not None and not each.is_used_by(latest)]


def _sighting(held: list[Held], search: HeldGraphs, timeline: Timeline, latest: LatestPass) -> Sighting | None:
    numbers = sorted({each.number for each in held})
    sample = numbers if len(numbers) <= _SAMPLED else numbers[:: len(numbers) // _SAMPLED]
    graph = Graph([search.nodes[number] for number in sample])
    steps, by_optimizer = timeline.of(graph.leaves)
    now = len(steps)
    walked = [number for number in numbers if latest.walks(number)]
    before = latest.steps_before(steps)
    if not now or any(_leads_before(search.nodes[number], before) for number in walked[:1] + walked[-1:]):
        return None  # the latest pass goes there: it is carried, and not only held
    dated = graph.numbers if graph.is_of_one_thread else set[int]()
    created = {number: bisect_right(steps, number) for number in {*numbers, *dated}}
    old = sorted({each for each in created.values() if each < now})
    if not old:
        return None
    name, first = search.container(held[0].name), held[0]
    each_ops = len(numbers) / len(sample)
    return Sighting(
        name=name,
        holder=first.holder if first.name == name else "item",
        function=first.function,
        owner=first.owner,
        newest=numbers[-1],
        reach={number: created[number] for number in dated or numbers},
        step=now,
        steps=old,
        ops=int(len(graph.numbers) * each_ops),
        saved_bytes=int(graph.saved_bytes * each_ops),
        is_bounded=any(name.startswith(each) for each in search.bounded),
        by_optimizer=by_optimizer,
        of_numbers=search.larger.isdisjoint(numbers),
    )


def _leads_before(node: Node, steps: "array[int]") -> bool:
    return any(number < last for last in steps[-1:] for number in Graph([node]).numbers)


class Graph:
    """What some ops lead to, as far as it is walked."""

    def __init__(self, roots: list[Node]) -> None:
        nodes = reach(roots, _OPS_WALKED)
        self.numbers = {each._sequence_nr() for each in nodes} - {NO_NUMBER}  # noqa: SLF001 # creation_number() costs a call more
        self.leaves = {id(leaf) for leaf in leaves_of(nodes)}
        # Each thread counts its ops by itself, one of a device those of gradients that have a graph: where an op has a
        # lower number than what it was computed from, numbers do not tell in which step that op was created.
        self.is_of_one_thread = all(map(_follows_its_inputs, nodes))
        self.saved_bytes = sum(map(about_bytes, filter(saves_values, nodes)))


def _follows_its_inputs(node: Node) -> bool:
    number = node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
    inputs = (each._sequence_nr() for each, _ in node.next_functions if each is not None)  # noqa: SLF001 # likewise
    return all(each < number or each == NO_NUMBER for each in inputs)
