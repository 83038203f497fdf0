"""The graph that a pass is to walk, with the numbers of its ops and the names of the modules behind them."""

from collections import deque
from collections.abc import Container, Iterable, Mapping
from typing import Any

from gradsan.observe.graph import Node, parameters_behind, reach, roots_of, walked
from gradsan.observe.log.iterations import Iterations
from gradsan.observe.private import NO_NUMBER


class Graph:
    """The graph that a pass is to walk; `modules` are the names of those that own its parameters, by their ids."""

    def __init__(self, tensors: Iterable[Any], modules: Mapping[int, str]) -> None:
        self.roots = roots_of(tensors)
        self.below = reach(self.roots)
        self.number: dict[Node, int] = {}
        for node in self.below:
            number = node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
            if number != NO_NUMBER:
                self.number[node] = number
        self._modules = modules

    def module(self, node: Node) -> str | None:
        """The module whose parameter an op uses."""
        names = (self._modules.get(id(leaf)) for leaf in parameters_behind(node, self.below))
        return next((name for name in names if name is not None), None)

    def is_older_than(self, loop: Iterations) -> bool:
        """Whether what the pass was asked for was there before the present iteration of a loop, which goes over it."""
        start = loop.start_of(loop.now)
        return start is not None and all(self.number.get(root, start) < start for root in self.roots)

    def beneath(self, roots: Iterable[Node], *, but_for: Container[Node] = ()) -> set[Node]:
        """Every node below some of this graph's own; what is to be left out is not walked."""
        return set(walked(roots, lambda node: [each for each in self.below[node] if each not in but_for]))

    def path(self, target: Node, starts: Iterable[Node] | None = None) -> list[Node]:
        """A shortest path to an op, from a root or from one of those to start from."""
        begin = self.roots if starts is None else starts
        came: dict[Node, Node | None] = dict.fromkeys(begin)
        queue = deque(begin)
        while queue:
            node = queue.popleft()
            if node is target:
                break
            for each in self.below[node]:
                if each not in came:
                    came[each] = node
                    queue.append(each)
        path_fact = [target]
        while (above := came[path_fact[-1]]) is not None:
            path_fact.append(above)
        return path_fact[::-1]
