"""The law of freeing: what one pass runs, frees and reaches, and where it fails, just as PyTorch's engine does it."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gradsan.lifecycle.events import Pass
from gradsan.lifecycle.ops import Leaf, Op, Port

Reason = Literal["freed", "edited", "no-history", "unused"]

# Stands for the number field in which gradients are calculated symbolically; a Mersenne prime keeps chance
# coincidences out of sight.
PRIME = 2**61 - 1


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


def walk(asked: Pass, world: World, *, lenient: bool = False) -> Walk:
    """What the engine does when `asked` meets `world`.

    A lenient walk goes on where PyTorch raises: it tells which gradients the program meant.
    """
    if None in asked.roots or None in (asked.inputs or ()):
        return Walk(asked, (), {}, Failure("no-history"))
    roots = [root for root in asked.roots if root is not None]
    inputs = None if asked.inputs is None else {each for each in asked.inputs if each is not None}

    waiting = _dependencies(roots, world)
    runs = (
        _everything if inputs is None else _leading_to(inputs, waiting, world, inclusive=asked.accumulates).__contains__
    )
    targets = world.leaves.keys() if inputs is None else {each.node for each in inputs}
    gradients: Counter[Port] = Counter(roots)
    received: dict[Port, int] = {}
    executed: list[int] = []
    # One root is run as it is; several hang from a root of their own, which hands on only what is needed.
    first = [
        each for each, count in waiting.items() if not count and (len(roots) == 1 or runs(each) or each in targets)
    ]
    ready = [(_priority(each, world), each) for each in first]
    heapq.heapify(ready)

    while ready:
        _, node = heapq.heappop(ready)
        arrived = {port: gradients[port] % PRIME for port in _ports(node, world) if port in gradients}
        if node in targets:
            received |= {port: each for port, each in arrived.items() if inputs is None or port in inputs}
        if node in world.leaves or not runs(node):
            continue
        if not lenient and (reason := _refusal(node, world)):
            left = tuple(each for _, each in ready if each in world.ops)
            return Walk(asked, tuple(executed), received, Failure(reason, node), left)
        executed.append(node)
        for index, following in enumerate(world.ops[node].inputs):
            if following is None:
                continue
            waiting[following.node] -= 1
            if not runs(following.node) and following.node not in targets:
                continue
            gradients[following] += sum(
                each * _local_derivative(world.derivative[node][index], port.output, index)
                for port, each in arrived.items()
            )
            if not waiting[following.node]:
                heapq.heappush(ready, (_priority(following.node, world), following.node))

    unused = not asked.accumulates and not asked.allows_unused and any(each not in received for each in inputs or ())
    return Walk(asked, tuple(executed), received, Failure("unused") if unused else None)


def _priority(node: int, world: World) -> int:
    # Leaves first (they have the highest number of all), then the newest op.
    return -(2**63) if node in world.leaves else -world.order[node]


def _everything(_: int) -> bool:
    return True


def _dependencies(roots: Iterable[Port], world: World) -> dict[int, int]:
    """Every node a pass can reach, with the number of gradients it must wait for."""
    waiting = {root.node: 0 for root in roots}
    stack = list(waiting)
    while stack:
        for following in world.below(stack.pop()):
            if following not in waiting:
                waiting[following] = 0
                stack.append(following)
            waiting[following] += 1
    return waiting


def _leading_to(inputs: Collection[Port], reachable: Iterable[int], world: World, *, inclusive: bool) -> set[int]:
    """The nodes that a pass with `inputs=` runs: those on the way from a root to one of the inputs.

    The input's own op is run (and freed) by `backward(inputs=[t])`, and left alone by `autograd.grad(…, [t])`.
    """
    above: dict[int, set[int]] = {}
    for node in reachable:
        for following in world.below(node):
            above.setdefault(following, set()).add(node)
    stack = [each.node for each in inputs]
    found = set(stack) if inclusive else set()
    while stack:
        for node in above.get(stack.pop(), ()):
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


def _ports(node: int, world: World) -> list[Port]:
    return [Port(node, output) for output in range(world.ops[node].outputs if node in world.ops else 1)]


def _refusal(node: int, world: World) -> Reason | None:
    if node in world.freed and world.ops[node].once:
        return "freed"
    return "edited" if node in world.edited else None


def _local_derivative(derivative: int, output: int, index: int) -> int:
    # A number at random, the same in every run: Python's hash of a tuple of integers.
    return hash((derivative, output, index)) % PRIME
