"""The law of freeing: what one pass runs, frees and reaches, and where it fails, just as PyTorch's engine does it."""

import heapq
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, Literal, Protocol, TypeVar

from gradsan.lifecycle.events import Pass
from gradsan.lifecycle.ops import Leaf, Op, Port

Reason = Literal["freed", "edited", "no-history", "unused"]

# Stands for the number field in which gradients are calculated symbolically; a Mersenne prime keeps chance
# coincidences out of sight.
PRIME = 2**61 - 1
_LEAVES_FIRST = -(2**63)  # leaves have the highest number of all

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that ends a pass."""

    # PyTorch's words for it are, in this order: "backward through the graph a second time", "modified by an inplace
    # operation", "does not require grad", "appears to not have been used in the graph".
    reason: Reason
    op: int | None = None  # where it was met


@dataclass(frozen=True, slots=True)
class Walk:
    """What one pass did."""

    asked: Pass
    executed: tuple[int, ...]  # ops, in the order in which they ran
    # What each leaf (or each of the `inputs` asked for) received, as a number that stands for the gradient: equal
    # numbers, equal gradients; the sum of two gradients is the sum of their numbers.
    received: Mapping[Port, int]
    failure: Failure | None
    left: tuple[int, ...] = ()  # ops it was about to run when it failed: the engine holds them until its next pass

    @property
    def frees(self) -> tuple[int, ...]:
        """The ops whose saved values it gave up. A pass that fails has freed what it ran before it failed."""
        return () if self.asked.retains else self.executed


@dataclass(frozen=True, slots=True)
class Run(Generic[Node]):
    """The order in which one pass comes to the nodes of a graph, and where it is refused."""

    met: tuple[Node, ...]  # what gradients came to: ops that ran or were to run, leaves, and what was asked for
    executed: tuple[Node, ...]  # ops, in the order in which they ran
    refused: tuple[tuple[Node, Reason], ...]  # the ops that raise, in that order; one at most, unless it is lenient
    left: tuple[Node, ...]  # ops it was about to run when it was refused


class Graph(Protocol[Node]):
    """What a pass has to know of a graph."""

    def below(self, node: Node, /) -> Sequence[Node]:
        """The nodes a gradient flows on to, once for every edge; none, below a leaf."""

    def newness(self, node: Node, /) -> int | None:
        """The place of an op in the order of creation; None for a leaf."""

    def refusal(self, node: Node, /) -> Reason | None:
        """Why running an op raises, if it does."""


@dataclass(frozen=True, slots=True)
class World:
    """What a pass finds when it starts. The mappings are read, never kept."""

    ops: Mapping[int, Op]
    leaves: Mapping[int, Leaf]
    order: Mapping[int, int]  # op → its place in the order of creation
    freed: Collection[int]
    edited: Collection[int]  # live ops one of whose saved values was changed in place since
    derivative: Mapping[int, Sequence[int]]  # op → what its derivative by each input is known by

    def below(self, node: int) -> tuple[int, ...]:
        """The nodes a gradient flows on to, once for every edge."""
        return self.ops[node].below if node in self.ops else ()

    def newness(self, node: int) -> int | None:
        """The place of an op in the order of creation; None for a leaf."""
        return self.order[node] if node in self.ops else None

    def refusal(self, node: int) -> Reason | None:
        """Why running an op raises, if it does."""
        if node in self.freed and self.ops[node].once:
            return "freed"
        return "edited" if node in self.edited else None


def walk(asked: Pass, world: World, *, lenient: bool = False) -> Walk:
    """What the engine does when `asked` meets `world`.

    A lenient walk goes on where PyTorch raises: it says which gradients the program meant.
    """
    if None in asked.roots or None in (asked.inputs or ()):
        return Walk(asked, (), {}, Failure("no-history"))
    roots = [root for root in asked.roots if root is not None]
    inputs = None if asked.inputs is None else {each for each in asked.inputs if each is not None}
    targets = None if inputs is None else {each.node for each in inputs}

    ran = run([root.node for root in roots], world, targets, inclusive=asked.accumulates, lenient=lenient)
    received = _received(ran, roots, inputs, world)
    if ran.refused and not lenient:
        node, reason = ran.refused[0]
        return Walk(asked, ran.executed, received, Failure(reason, node), ran.left)
    unused = not asked.accumulates and not asked.allows_unused and any(each not in received for each in inputs or ())
    return Walk(asked, ran.executed, received, Failure("unused") if unused else None)


def run(
    roots: Sequence[Node],
    graph: Graph[Node],
    inputs: Collection[Node] | None = None,
    *,
    inclusive: bool = True,
    lenient: bool = False,
) -> Run[Node]:
    """The order in which a pass from these roots runs the ops of a graph; with `inputs`, those that lead to one.

    `inclusive`: the op of an input is run too. A lenient run goes on where PyTorch raises.
    """
    waiting = _dependencies(roots, graph)
    needed = None if inputs is None else _leading_to(inputs, waiting, graph, inclusive=inclusive)
    wanted = waiting.keys() if needed is None else needed | set(inputs or ())
    met: list[Node] = []
    executed: list[Node] = []
    refused: list[tuple[Node, Reason]] = []
    serial = count()
    # One root is run as it is; several hang from a root of their own, which hands on only what is needed.
    first = [each for each, number in waiting.items() if not number and (len(roots) == 1 or each in wanted)]
    ready = [(_priority(graph.newness(each)), next(serial), each) for each in first]
    heapq.heapify(ready)
    while ready:
        priority, _, node = heapq.heappop(ready)
        met.append(node)
        if priority == _LEAVES_FIRST or (needed is not None and node not in needed):
            continue
        reason = graph.refusal(node)
        if reason is not None:
            refused.append((node, reason))
            if not lenient:
                break
        executed.append(node)
        for following in graph.below(node):
            waiting[following] -= 1
            if not waiting[following] and following in wanted:
                heapq.heappush(ready, (_priority(graph.newness(following)), next(serial), following))
    left = tuple(each for priority, _, each in ready if priority != _LEAVES_FIRST)
    return Run(tuple(met), tuple(executed), tuple(refused), left)


def _priority(newness: int | None) -> int:
    return _LEAVES_FIRST if newness is None else -newness  # then the newest op


def _dependencies(roots: Iterable[Node], graph: Graph[Node]) -> dict[Node, int]:
    """Every node a pass can reach, with the number of gradients it must wait for."""
    waiting = dict.fromkeys(roots, 0)
    stack = list(waiting)
    while stack:
        for following in graph.below(stack.pop()):
            if following not in waiting:
                waiting[following] = 0
                stack.append(following)
            waiting[following] += 1
    return waiting


def _leading_to(
    inputs: Collection[Node], reachable: Iterable[Node], graph: Graph[Node], *, inclusive: bool
) -> set[Node]:
    """The nodes that a pass with `inputs=` runs: those on the way from a root to one of the inputs.

    The input's own op is run (and freed) by `backward(inputs=[t])`, and left alone by `autograd.grad(…, [t])`.
    """
    above: dict[Node, set[Node]] = {}
    for node in reachable:
        for following in graph.below(node):
            above.setdefault(following, set()).add(node)
    stack = list(inputs)
    found = set(stack) if inclusive else set()
    while stack:
        for node in above.get(stack.pop(), ()):
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


def _received(ran: Run[int], roots: Iterable[Port], inputs: Collection[Port] | None, world: World) -> dict[Port, int]:
    """The gradients that come to the leaves, or to the inputs asked for."""
    gradients: Counter[Port] = Counter(roots)
    executed = set(ran.executed)
    received: dict[Port, int] = {}
    for node in ran.met:
        arrived = {port: gradients[port] % PRIME for port in _ports(node, world) if port in gradients}
        if inputs is not None:
            received |= {port: each for port, each in arrived.items() if port in inputs}
        elif node in world.leaves:
            received |= arrived
        if node in executed:
            _hand_on(arrived, node, gradients, world)
    return received


def _hand_on(arrived: Mapping[Port, int], node: int, gradients: Counter[Port], world: World) -> None:
    for index, following in enumerate(world.ops[node].inputs):
        if following is not None:
            gradients[following] += sum(
                each * _local_derivative(world.derivative[node][index], port.output, index)
                for port, each in arrived.items()
            )


def _ports(node: int, world: World) -> list[Port]:
    return [Port(node, output) for output in range(world.ops[node].outputs if node in world.ops else 1)]


def _local_derivative(derivative: int, output: int, index: int) -> int:
    # A number at random, the same in every run: Python's hash of a tuple of integers.
    return hash((derivative, output, index)) % PRIME
