"""Whether a failing pass was asked for a loss that an earlier one took, or for a total with such a loss in it."""

from gradsan.facts.incident import Kinship
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene
from gradsan.observe.graph import Node, inputs_of, kind_of, loss_chain, terms_of
from gradsan.observe.notes import PassNote


def kinship_of(graph: Graph, freed_by: dict[Node, PassNote], scene: Scene, *, fresh: bool) -> Kinship:
    """`fresh`: the pass reaches parameters apart from what was freed."""
    chain, terms = loss_chain(graph.roots), terms_of(graph.roots)
    numbers, of_terms = {graph.number[node] for node in chain}, {graph.number[node] for node in terms}
    taken = {
        each.losses[0]
        for each in scene.earlier
        if each.losses and not each.retains and (each.losses[0] in numbers or not of_terms.isdisjoint(each.losses))
    }
    if taken:
        return "total" if fresh or len(taken) > 1 else "same"
    return "total" if any(_grows(node, freed_by) for node in set(chain).difference(terms)) else "none"


def _grows(node: Node, freed_by: dict[Node, PassNote]) -> bool:
    """Whether a part of a loss is a sum of something new and of what an earlier pass walked: a mean of all so far."""
    added = inputs_of(node) if kind_of(node) == "Add" else []
    return node not in freed_by and len({each in freed_by for each in added}) > 1
