"""Every edge over which a failing pass leaves its own iteration and leads to what is freed, and the name at each.

An explanation is about one of them. A fix has to treat them all: each half of a state, each cache that was filled once.
"""

from collections.abc import Iterator
from dataclasses import replace

from gradsan.facts.culprit import Culprit
from gradsan.facts.incident import OpFact, SecondPass, Stack
from gradsan.facts.live_evidence import Crossed
from gradsan.observe.failure.creators import creator_iterations
from gradsan.observe.failure.scene import Scene, moment, op_fact
from gradsan.observe.graph import Node, leading_to, saves_values
from gradsan.observe.log.iterations import Iterations
from gradsan.observe.naming.assigned_together import assigned_together
from gradsan.observe.naming.carriers import carrier
from gradsan.observe.naming.line_names import Crossing
from gradsan.source.memos import memo_filled_at

_MOST = 8  # beside the one that the explanation is about
_ALIKE = 3  # that stand at the same lines, and are named: each is followed through the log by itself


def other_crossings(incident: SecondPass, scene: Scene, culprit: Culprit) -> tuple[Crossed, ...]:
    """Those that the explanation is not about, each place and name once; the last has no name where some were left out.

    What stands at the same line under the same name is no other: an edit of that line, or of all objects that have it,
    treats it too. Nor is what a network computes itself that learns from another one: that stays part of its loss.
    """
    if incident.owners.is_teaching:
        return ()
    found: dict[tuple[str | None, Stack], Crossed] = {}
    for each in (*_of_edges(incident, scene, culprit), *_of_one_statement(incident, culprit)):
        found.setdefault((None if each.culprit is None else each.culprit.name, _where(each.enters)), each)
    kept = tuple(found.values())
    return kept if len(kept) <= _MOST else (*kept[:_MOST], replace(kept[_MOST], culprit=None))


def _of_edges(incident: SecondPass, scene: Scene, culprit: Culprit) -> Iterator[Crossed]:
    """Those that the graph shows, each followed through the log to its name."""
    loop = _loop_of(incident, scene)
    alike = _sort_of(incident.made, loop, scene)
    followed: dict[tuple[Stack, Stack], set[int | None]] = {}
    for created, enters in _edges(incident, loop, scene):
        seen = followed.setdefault((_where(created), _where(enters)), set())
        seen.add(created.number)
        if len(seen) > _ALIKE or created.number == incident.made.number or _is_of_one_memo(created, incident):
            continue
        if len(followed) > 2 * _MOST:
            yield Crossed(created, enters, None, is_alike=False)
            return
        name = _named(incident, created, enters, scene)
        if name != culprit or _where(enters) != _where(incident.enters):
            yield Crossed(created, enters, name, _sort_of(created, loop, scene) == alike)


def _is_of_one_memo(created: OpFact, incident: SecondPass) -> bool:
    """Whether the memo that the explanation is about has it, too."""
    memo = None if incident.repetition is None else incident.repetition.memo
    return memo is not None and any(memo_filled_at(each.file, each.line) == memo for each in created.stack)


def _of_one_statement(incident: SecondPass, culprit: Culprit) -> Iterator[Crossed]:
    if incident.enters is not None:
        for each in assigned_together(culprit, incident.made.stack, incident.enters.stack):
            yield Crossed(incident.made, incident.enters, each, is_alike=True)


def _loop_of(incident: SecondPass, scene: Scene) -> Iterations | None:
    header = None if incident.repetition is None else incident.repetition.header
    return next((each for each in reversed(scene.loops) if each.frame == header), None)


def _edges(incident: SecondPass, loop: Iterations | None, scene: Scene) -> Iterator[tuple[OpFact, OpFact]]:
    """From an op of this iteration to an older one that leads to what is freed; the newest first."""
    graph = scene.graph
    consumed = {node for node, number in graph.number.items() if number in incident.consumed}
    victims = {node for node in consumed if saves_values(node)}
    leading = leading_to(graph.below, victims, inclusive=True)
    start = _start(incident, loop)

    def is_old(node: Node) -> bool:
        return node in consumed if start is None else graph.number.get(node, start) < start

    for node in sorted(graph.number, key=graph.number.__getitem__, reverse=True):
        if is_old(node):
            continue
        for each in dict.fromkeys(graph.below[node]):
            if each in leading and is_old(each):
                yield op_fact(each, graph, {}, scene), op_fact(node, graph, {}, scene)


def _start(incident: SecondPass, loop: Iterations | None) -> int | None:
    """The op counter when the present iteration began, or the loop itself where all is older than it."""
    if loop is None or incident.repetition is None or incident.repetition.made in ("now", "unknown"):
        return None
    return loop.start_of(1 if incident.repetition.made == "before" else loop.now)


def _sort_of(created: OpFact, loop: Iterations | None, scene: Scene) -> tuple[str, bool]:
    """When it was created, and whether this iteration created another one."""
    if loop is None or created.number is None:
        return "unknown", False
    return moment(created.number, loop), loop.now in creator_iterations(created.number, loop, scene.lines)


def _where(op: OpFact | None) -> Stack:
    """The line that created an op; empty where that is not known."""
    return () if op is None else op.stack[-1:]


def _named(incident: SecondPass, created: OpFact, enters: OpFact, scene: Scene) -> Culprit | None:
    crossing = Crossing.between(created, enters, (), incident.freeing.begin)
    found = None if crossing is None else carrier(crossing, scene.frames[::-1], scene.lines, scene.owns)
    return None if found is None else found.culprit
