"""The graph of a pass that failed, with the path on which it failed."""

from gradsan.facts.culprit import Culprit
from gradsan.facts.details import OpGraph
from gradsan.facts.incident import Edited, GraphPath, Incident, SecondPass
from gradsan.observe.details.op_graph import op_graph
from gradsan.observe.failure.scene import Scene
from gradsan.observe.graph import Node
from gradsan.observe.ledger.wording import loss_at


def failing_graph(incident: Incident, culprit: Culprit | None, scene: Scene) -> OpGraph:
    """All of it; the culprit's name is put where the old part begins."""
    stack, graph = scene.note.stack, scene.graph
    loss = loss_at(stack[-1], is_direct=True) if stack else None
    labels: dict[int, str] = {}
    path: list[Node] = []
    if isinstance(incident, SecondPass | Edited):
        path, made = _path(incident.path, scene), incident.made
        if culprit is not None and made is not None and made.number is not None:
            labels[made.number] = culprit.name
    return op_graph({loss or "loss": graph.roots}, scene.note, scene.process, path=lambda: path, labels=labels)


def _path(known: GraphPath, scene: Scene) -> list[Node]:
    """The ops of a path; what was left out of its middle is found again."""
    nodes = {number: node for node, number in scene.graph.number.items()}
    ends = [nodes[op.number] for op in known.ops if op.number is not None and op.number in nodes]
    return scene.graph.path(ends[-1]) if known.left_out and ends else ends
