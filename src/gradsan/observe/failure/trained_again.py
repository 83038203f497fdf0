"""Whether the later forward trains again what is old in its graph, so that the old part may lose its graph."""

from collections.abc import Collection, Container
from itertools import pairwise

from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.graph import Node, kind_of, leaves_of, linear_terms, loss_chain, mixing, own_backwards

_COMPARING = frozenset({"MseLoss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"})


def trained_again(graph: Graph, path: list[Node], crossing: int, old: Collection[Node]) -> bool:
    """Whether the term of the loss that builds on what is old there trains all parameters behind that apart from it.

    A prior in another term of the loss is no forward: what only that trains besides is to be trained through what is
    old.
    """
    term = _term(linear_terms(graph.roots), path, crossing, old)
    stale = {id(leaf) for leaf in leaves_of(graph.beneath([path[crossing]]))}
    if term is None or not stale:
        return False
    return stale <= {id(leaf) for leaf in leaves_of(graph.beneath([term], but_for=old))}


def is_average(graph: Graph, path: list[Node], crossing: int, old: Collection[Node]) -> bool:
    """Whether what is old is only added to something new, and all behind it is trained without that sum, too.

    Then the sum is a statistic beside the network. Where a network is trained through it alone, it is a state.
    """
    adding = mixing(path[:crossing])
    if adding is None or adding in loss_chain(graph.roots):
        return False
    stale = {id(leaf) for leaf in leaves_of(graph.beneath([path[crossing]]))}
    fresh = graph.beneath(graph.roots, but_for={*old, adding})
    return bool(stale) and stale <= {id(leaf) for leaf in leaves_of(fresh)}


def is_term(graph: Graph, path: list[Node], crossing: int, old: Container[Node]) -> bool:
    """Whether the loss is a sum, and one of its terms is old or trains nothing but through what is old."""
    terms = linear_terms(graph.roots)
    term = _term(terms, path, crossing, old)
    if term is None:
        return path[crossing] in terms
    return term not in graph.roots and not any(True for _ in leaves_of(graph.beneath([term], but_for=old)))


def _term(terms: list[Node], path: list[Node], crossing: int, old: Container[Node]) -> Node | None:
    """The one of these terms of a loss through which a path comes to what is old; None where that is one itself."""
    known = set(terms)
    if path[crossing] in known:
        return None
    return next((node for node in reversed(path) if node in known and node not in old), None)


def shaped_by(graph: Graph, path: list[Node], crossing: int) -> str | None:
    """The Function with a backward of the program's own through which the later forward builds on what is old.

    Who writes how a gradient goes on there, as a reversal does, means it to arrive.
    """
    seen = graph.beneath([path[crossing]])
    old = {id(leaf) for leaf in leaves_of(seen)}
    for node in reversed(path[:crossing]):
        new = graph.beneath([node], but_for=seen)  # each op is walked once, however long the path is
        if any(id(leaf) not in old for leaf in leaves_of(new)):
            return None
        if name := next(iter(own_backwards([node])), None):
            return name
        seen |= new
    return None


def is_target(above: list[Node]) -> bool:
    """Whether a path comes to what is old as the target of a loss function: nobody trains what is aimed at."""
    for node, following in pairwise(above):
        if kind_of(node) in _COMPARING:
            given = [each for each, _ in node.next_functions]
            return given[0] is not following and following in given[1:2]
    return False


def is_reached_otherwise(graph: Graph, old: Container[Node]) -> bool:
    """Whether more than terms of the loss leads to what is old: a state is carried as well."""
    terms = set(loss_chain(graph.roots))
    fresh = graph.beneath((root for root in graph.roots if root not in old), but_for=old)
    return any(each in old for node in fresh if node not in terms for each in graph.below[node])
