"""Networks that teach each other: each has an optimizer of its own, and they meet in the loss alone."""

from collections.abc import Container, Mapping

from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.graph import Node, leaves_of

_Owned = dict[Node, frozenset[int]]  # the optimizers of all parameters below a node
_OF_A_NETWORK = 2  # leaves; what leads to one alone may be a layer's own weight


def path_to_teacher(
    graph: Graph, owners: Mapping[int, set[int]], stepped: frozenset[int], freed: Container[Node]
) -> tuple[list[Node], list[Node]] | None:
    """From the loss to where it is given what a network computes that has stepped already, and on to a freed op.

    None where the networks meet before the loss does: one works on what the other gives it, as a head does, and the
    loss is for both. `owners`: by the ids of parameters.
    """
    owned = _owned(graph, owners)
    trained = frozenset().union(*owned.values())
    if len(trained) < _OF_A_NETWORK or not stepped < trained:
        return None
    meeting = [(node, each) for node, of in owned.items() if len(of) > 1 for each in graph.below[node]]
    arriving = [(node, each) for node, each in meeting if len(owned[each]) == 1]
    if not all(_is_network(graph, each) for _, each in arriving):
        return None
    for node, each in arriving:
        if owned[each] <= stepped:
            inward = _path(graph, each, freed)
            return None if inward is None else (graph.path(node), inward)
    return None


def _owned(graph: Graph, owners: Mapping[int, set[int]]) -> _Owned:
    owned: _Owned = {}
    stack = list(graph.roots)
    while stack:
        node = stack[-1]
        waiting = [each for each in graph.below[node] if each not in owned]
        if waiting and node not in owned:
            owned[node] = frozenset()  # to be seen to once its inputs are: a graph has no circles
            stack += waiting
            continue
        stack.pop()
        own = frozenset(owner for leaf in leaves_of([node]) for owner in owners.get(id(leaf), ()))
        owned[node] = own.union(*(owned[each] for each in graph.below[node]))
    return owned


def _is_network(graph: Graph, node: Node) -> bool:
    """Whether several leaves are below it: no more is walked than that takes."""
    seen: set[Node] = set()
    leaves: set[int] = set()
    stack = [node]
    while stack and len(leaves) < _OF_A_NETWORK:
        each = stack.pop()
        if each not in seen:
            seen.add(each)
            leaves |= {id(leaf) for leaf in leaves_of([each])}
            stack += graph.below[each]
    return len(leaves) >= _OF_A_NETWORK


def _path(graph: Graph, node: Node, freed: Container[Node]) -> list[Node] | None:
    """A path from a node to one that was freed."""
    found = next((each for each in graph.beneath([node]) if each in freed), None)
    return None if found is None else graph.path(found, (node,))
