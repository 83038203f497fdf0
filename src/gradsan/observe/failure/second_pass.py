"""A pass came upon ops that an earlier pass had freed: which, by whom, and in which round of which loop."""

from bisect import bisect_left
from dataclasses import replace
from itertools import takewhile
from typing import Any

from gradsan.facts.incident import OpFact, Owners, PassFact, Repetition, SecondPass, Stack
from gradsan.knowledge.tensors import kinds
from gradsan.observe.failure.kinship import kinship_of
from gradsan.observe.failure.makers import goes_over_functions, maker_rounds
from gradsan.observe.failure.renewal import is_reached_otherwise, is_term
from gradsan.observe.failure.scene import Graph, Node, Scene, moment, op_fact, pass_fact, runs, way
from gradsan.observe.graph import (
    REARRANGING,
    about_bytes,
    kind_of,
    leaves_of,
    parameters_behind,
    saves_values,
    version_of,
)
from gradsan.observe.log.iterations import BEFORE, Repeats, Rounds
from gradsan.observe.log.lines import Unknown
from gradsan.observe.notes import PassNote

_CONTRACTIONS = kinds(lambda row: row.contracts)


def second_pass(scene: Scene) -> SecondPass | None:
    """The facts; None where no earlier pass is known to have freed anything."""
    graph = scene.graph
    freed_by = _consumers(graph, scene)
    victims = [node for node in freed_by if saves_values(node)]
    if not victims:
        return None
    # The engine runs the newest op first, so that is where it stopped.
    victim = max(victims, key=lambda node: graph.number[node])
    freeing = freed_by[victim]
    path = graph.path(victim)
    stale = list(leaves_of(graph.beneath(freed_by)))
    repetition = _repetition(graph, path, freeing, stale, scene)
    crossing = _crossing(path, freed_by, graph, repetition)
    fresh = _fresh_leaves(graph, freed_by)
    victim_name = victim.name()
    kinship = kinship_of(graph, freed_by, scene, fresh=bool(fresh))
    anew = bool(stale) and {id(leaf) for leaf in stale} <= {id(leaf) for leaf in fresh}
    return SecondPass(
        failing=pass_fact(scene.note),
        freeing=_inside(pass_fact(freeing), scene.note.stack),
        path=way(path, graph, freed_by, scene),
        made=_made(op_fact(path[crossing], graph, freed_by, scene), repetition, scene),
        enters=op_fact(path[crossing - 1], graph, freed_by, scene) if crossing else None,
        kinship=kinship,
        repetition=repetition[0] if repetition else None,
        updated_between=_updated(freeing, graph, scene),
        cleared_between=any(leaf.grad is None for leaf in stale),
        owners=_owners(fresh, stale, freeing, scene),
        consumed=frozenset(graph.number[node] for node in freed_by),
        consumed_bytes=sum(about_bytes(node) for node in victims),
        compiled=victim_name.startswith("CompiledFunction"),
        checkpointed=scene.in_checkpoint or _is_recomputed(graph.number[victim], freeing, scene),
        own_backward=scene.note.outer is not None
        and any(runs(frame.function, "backward") for frame in scene.note.stack),
        trained_anew=anew,
        is_term=anew and is_term(graph, path, crossing, freed_by),
        carries_more=kinship == "total" and is_reached_otherwise(graph, freed_by),
        is_operand=is_operand(path[:crossing]),
        additions=_additions(path[: _first_freed(path, freed_by)]),
    )


def _additions(above: list[Node]) -> int:
    """How many ops in a row, right above what was freed, add something to it; what adds up several totals is none."""
    return len(list(takewhile(_adds, reversed(above))))


def _adds(node: Node) -> bool:
    return kind_of(node) == "Add" and sum(each is not None for each, _ in node.next_functions) > 1


def _first_freed(path: list[Node], freed_by: dict[Node, PassNote]) -> int:
    return next(index for index, node in enumerate(path) if node in freed_by)


def _consumers(graph: Graph, scene: Scene) -> dict[Node, PassNote]:
    """The ops that earlier passes had freed, each with the first that did."""
    earlier = [each for each in scene.passes.before(scene.note) if not each.retains and each.walked is not None]
    # Sorted, so that of a million ops each pass looks only at those that it may have walked.
    ops = sorted(graph.number.items(), key=lambda each: each[1])
    numbers = [number for _, number in ops]
    found: dict[Node, PassNote] = {}
    for each in earlier:
        first, last = each.span
        for node, number in ops[bisect_left(numbers, first) : bisect_left(numbers, last)]:
            if node not in found and each.walks(number):
                found[node] = each
    return found


def _crossing(
    path: list[Node], freed_by: dict[Node, PassNote], graph: Graph, repetition: tuple[Repetition, Rounds] | None
) -> int:
    """Where the way leads out of the present round, or into the freed part."""
    freed = _first_freed(path, freed_by)
    if repetition is None or repetition[0].made in ("now", "unknown"):
        return freed
    loop = repetition[1]
    start = loop.start_of(1 if repetition[0].made == "before" else loop.now) or loop.start_of(loop.now)
    if start is None:
        return freed
    return next((index for index, node in enumerate(path) if graph.number.get(node, start) < start), freed)


def _made(fact: OpFact, repetition: tuple[Repetition, Rounds] | None, scene: Scene) -> OpFact:
    """With the step of its own round: what an earlier round made below its pass was not made for the next one."""
    is_earlier = repetition is not None and repetition[0].made == "earlier"
    return replace(fact, step=fact.step - 1) if is_earlier and fact.step == scene.note.step > 1 else fact


def _repetition(
    graph: Graph, path: list[Node], freeing: PassNote, leaves: list[Any], scene: Scene
) -> tuple[Repetition, Rounds] | None:
    """The innermost loop of steps in which the two passes fall into different rounds. `leaves`: of the freed part."""
    if scene.lines is None:
        return None
    loops = scene.lines.rounds()
    updated = _updated(freeing, graph, scene)
    stale = {id(leaf) for leaf in leaves}
    stale = {each for each in stale if each in scene.owners} or stale  # no inputs that a gradient is taken of
    made = _origin(graph, path, freeing)
    numbers = [number for node in path if (number := graph.number.get(node)) is not None]
    for place in reversed(range(len(loops))):
        loop = loops[place]
        # The op counter may stand still from a pass to the next round: what came before the pass tells its round.
        freed = loop.round_of(max(freeing.begin - 1, 0))
        if loop.now in (freed, BEFORE) or (loop.kind is Repeats.CALLS and freed == BEFORE):
            continue
        if place and _goes_with(loop, loops[place - 1]):
            continue
        if freed == BEFORE and any(_spans(each, freeing) for each in loops[:place]):
            continue  # an earlier run of this loop asked for that pass: what is around runs it again and again
        start = loop.start_of(loop.now)
        if start is None or goes_over_functions(made, loop, scene.lines, numbers):
            continue
        rounds = maker_rounds(made, loop, scene.lines)
        if _is_due(path, graph, loop, scene):
            rounds.add(loop.now)
        when = moment(made, loop)
        # Where a guard skipped what makes the loss, the pass takes that of the round before.
        is_stale = loop.kind is Repeats.LOOP and when == "earlier" and len(rounds) > 1 and loop.now not in rounds
        if not (is_stale or (not graph.is_older_than(loop) and (updated or _is_used_again(stale, graph, start)))):
            continue
        if when == "before" and loop.now in rounds and _is_under(loop, scene.lines.stack_of(made)):
            # A generator that the loop draws from: its first item is made while the header is evaluated.
            when = "earlier"
        outer = loops[place - 1] if place else None
        born = loop.round_of(made)
        repetition = Repetition(
            header=loop.frame,
            now=loop.now,
            freed=freed,
            made=when,
            maker_runs=len(rounds),
            maker_ran_now=loop.now in rounds,
            made_in_outer_round=outer is not None and outer.round_of(made) == outer.now,
            maker_ran_since=born is not None and any(born < each < loop.now for each in rounds),
        )
        return repetition, loop
    return None


def _spans(loop: Rounds, freeing: PassNote) -> bool:
    """Whether the earlier pass fell into an earlier round of a loop."""
    freed = loop.round_of(max(freeing.begin - 1, 0))
    return freed is not None and BEFORE < freed < loop.now


def _is_due(path: list[Node], graph: Graph, loop: Rounds, scene: Scene) -> bool:
    """Whether what leads out of the present round is made below the pass, in every round: this one comes to it yet."""
    start = loop.start_of(loop.now)
    older = (number for node in path if (number := graph.number.get(node)) is not None)
    carried = None if start is None else next((number for number in older if number < start), None)
    if carried is None or loop.round_of(carried) != loop.now - 1:
        return False
    asked = [each.begin for each in scene.passes.before(scene.note) if each.line == scene.note.line]
    return any(loop.round_of(max(begin - 1, 0)) == loop.now - 1 and begin <= carried for begin in asked)


def _origin(graph: Graph, path: list[Node], freeing: PassNote) -> int:
    """The number of what is old: a round that only re-arranged it (`values = values.squeeze()`) did not make it."""
    consumed = [node for node in path if node in graph.number and freeing.walks(graph.number[node])]
    return graph.number[next((node for node in consumed if kind_of(node) not in REARRANGING), consumed[0])]


def _goes_with(calls: Rounds, loop: Rounds) -> bool:
    """Whether calls are repeated by nothing but the user's loop around them, once in its present round.

    What such a round has made before it calls belongs to it.
    """
    if calls.kind is not Repeats.CALLS or loop.kind is not Repeats.LOOP or calls.depth != loop.depth:
        return False
    start, before = loop.start_of(loop.now), calls.start_of(calls.now - 1)
    return start is not None and before is not None and before < start


def _is_used_again(stale: set[int], graph: Graph, start: int) -> bool:
    """Whether a round uses all those parameters anew; where none was changed, a later layer or loss is no new step."""
    made = (node for node, number in graph.number.items() if number >= start)
    return stale <= {id(leaf) for node in made for leaf in parameters_behind(node, graph.below)}


def _is_under(loop: Rounds, stack: Stack | Unknown) -> bool:
    """Whether the loop's own header had called for what was made."""
    return not isinstance(stack, Unknown) and loop.frame in stack


def _is_recomputed(number: int, freeing: PassNote, scene: Scene) -> bool:
    """Whether a pass made ops and freed them again, with no call of the user's in between: a checkpoint does."""
    outer = next((each for each in scene.passes.before(scene.note) if each.index == freeing.outer), None)
    return outer is not None and outer.begin <= number and outer.stack == freeing.stack


def _inside(freeing: PassFact, failing: Stack) -> PassFact:
    """Where a whole training step is a module's forward, the failing pass ran inside that too."""
    ours = [(frame.file, frame.function) for frame in freeing.stack]
    theirs = [(frame.file, frame.function) for frame in failing]
    pairs = enumerate(zip(ours, theirs, strict=False))
    shared = next((at for at, (mine, other) in pairs if mine != other), len(theirs))
    return replace(freeing, in_forward=any(runs(function, "forward") for _, function in ours[shared:]))


def is_operand(above: list[Node]) -> bool:
    """Whether what is below is multiplied with something as features and weights are, not compared or weighed by."""
    kinds = (kind_of(node) for node in reversed(above))
    return next((kind for kind in kinds if kind not in REARRANGING), None) in _CONTRACTIONS


def _fresh_leaves(graph: Graph, freed_by: dict[Node, PassNote]) -> list[Any]:
    """The leaves that are reached without walking a freed op."""
    roots = (root for root in graph.roots if root not in freed_by)
    return list(leaves_of(graph.beneath(roots, but_for=freed_by)))


def _updated(freeing: PassNote, graph: Graph, scene: Scene) -> bool:
    """Whether a parameter was changed since: by an optimizer, or by hand."""
    if scene.steps.since(freeing.index):
        return True
    leaves = {id(leaf): version_of(leaf) for leaf in leaves_of(graph.below)}
    return any(freeing.leaves.get(leaf, version) != version for leaf, version in leaves.items())


def _owners(fresh: list[Any], stale: list[Any], freeing: PassNote, scene: Scene) -> Owners:
    owners = scene.owners
    steps = scene.steps.since(freeing.index)
    stepped = frozenset(str(each.optimizer) for each in steps if each.passes == steps[0].passes)

    def of(leaves: list[Any]) -> frozenset[str]:
        return frozenset(str(owner) for leaf in leaves for owner in owners.get(id(leaf), ()))

    one_line = scene.note.stack == freeing.stack
    return Owners(of(fresh), of(stale), by_optimizer=bool(owners), stepped=stepped, one_line=one_line)
