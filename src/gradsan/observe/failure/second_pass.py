"""A pass came upon ops that an earlier pass had freed: which, by whom, and in which iteration of which loop."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from dataclasses import replace
from itertools import takewhile
from typing import Any

from gradsan.facts.incident import OpFact, Owners, PassFact, Repetition, SecondPass, Stack, whom_for
from gradsan.observe.failure.failing_loops import OldPart, repetition_of
from gradsan.observe.failure.kinship import kinship_of
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene, op_fact, pass_fact, path_fact, runs
from gradsan.observe.failure.teaching import path_to_teacher
from gradsan.observe.failure.trained_again import (
    is_average,
    is_reached_otherwise,
    is_target,
    is_term,
    shaped_by,
    trained_again,
)
from gradsan.observe.graph import (
    REARRANGING,
    Node,
    about_bytes,
    cuts_up,
    inputs_of,
    is_operand,
    kind_of,
    leaves_of,
    saves_values,
    version_of,
)
from gradsan.observe.log.iterations import Iterations
from gradsan.observe.modules import parameters_of
from gradsan.observe.notes import PassNote


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
    stale, fresh = list(leaves_of(graph.beneath(freed_by))), _fresh_leaves(graph, freed_by)
    owners = _owners(fresh, stale, freeing, scene)
    served = frozenset(map(int, owners.served))
    teacher = None if owners.apart else path_to_teacher(graph, scene.owners, served, freed_by)
    path = graph.path(victim) if teacher is None else [*teacher[0], *teacher[1]]
    updated = _updated(freeing, graph, scene)
    repetition = repetition_of(OldPart(graph, path, freeing, _trained(stale, scene), updated), scene)
    crossing = _crossing(path, freed_by, graph, repetition) if teacher is None else _given(path, teacher[0], scene)
    victim_name = victim.name()
    kinship = kinship_of(graph, freed_by, scene, fresh=bool(fresh))
    is_reached_again = bool(stale) and {id(leaf) for leaf in stale} <= {id(leaf) for leaf in fresh}
    return SecondPass(
        failing=pass_fact(scene.note),
        freeing=_inside(pass_fact(freeing), scene.note.stack),
        path=path_fact(path, graph, freed_by, scene),
        made=_created(op_fact(_uncut(path[crossing:], graph, scene), graph, freed_by, scene), repetition, scene),
        enters=op_fact(path[crossing - 1], graph, freed_by, scene) if crossing else None,
        kinship=kinship,
        repetition=repetition[0] if repetition else None,
        updated_between=updated,
        cleared_between=any(leaf.grad is None for leaf in stale),
        owners=replace(owners, is_teaching=teacher is not None),
        consumed=frozenset(graph.number[node] for node in freed_by),
        consumed_bytes=sum(about_bytes(node) for node in victims),
        compiled=victim_name.startswith("CompiledFunction"),
        checkpointed=scene.in_checkpoint or _is_recomputed(graph.number[victim], freeing, scene),
        own_backward=scene.note.outer is not None
        and any(runs(frame.function, "backward") for frame in scene.note.stack),
        trained_again=trained_again(graph, path, crossing, freed_by),
        is_term=is_reached_again and is_term(graph, path, crossing, freed_by),
        carries_more=kinship == "total" and is_reached_otherwise(graph, freed_by),
        is_average=is_average(graph, path, crossing, freed_by),
        is_target=is_target(path[: crossing + 1]),
        is_operand=is_operand(path[:crossing]),
        shaped_by=shaped_by(graph, path, crossing),
        additions=_additions(path[: _first_freed(path, freed_by)], freed_by),
    )


_JOINS = ("Stack", "Cat")


def _trained(leaves: list[Any], scene: Scene) -> frozenset[int]:
    """The ids of those that an optimizer owns: no inputs that a gradient is taken of. Where it owns none, of all."""
    every = frozenset(map(id, leaves))
    return frozenset(each for each in every if each in scene.owners) or every


def _additions(above: list[Node], freed_by: dict[Node, PassNote]) -> int:
    """How many ops in a row, right above what was freed, add something to it; what adds up several totals is none.

    What stacks a list adds all items at once that were not freed.
    """
    if above and kind_of(above[-1]) in _JOINS:
        return sum(each not in freed_by for each in inputs_of(above[-1]))
    return len(list(takewhile(_adds, reversed(above))))


def _adds(node: Node) -> bool:
    return kind_of(node) == "Add" and len(inputs_of(node)) > 1


def _first_freed(path: list[Node], freed_by: dict[Node, PassNote]) -> int:
    return next(index for index, node in enumerate(path) if node in freed_by)


def _consumers(graph: Graph, scene: Scene) -> dict[Node, PassNote]:
    """The ops that earlier passes had freed, each with the first that did."""
    earlier = [each for each in scene.earlier if not each.retains and each.walked is not None]
    # Sorted, so that of a million ops each pass looks only at those that it may have walked.
    ops = sorted(graph.number.items(), key=lambda each: each[1])
    numbers = [number for _, number in ops]
    found: dict[Node, PassNote] = {}
    for each in earlier:
        first, last = each.span
        for node, number in ops[bisect_left(numbers, first) : bisect_left(numbers, last)]:
            if node not in found and each.walks(number):
                found[node] = each
    return found if any(map(saves_values, found)) else _supposed_consumers(ops, scene)


def _supposed_consumers(ops: list[tuple[Node, int]], scene: Scene) -> dict[Node, PassNote]:
    """PyTorch says that something was freed, and no pass is known to have done it: one that nobody looked at has.

    That is the next pass of the same line, for what was there when it began.
    """
    alike = [each for each in scene.earlier if each.line == scene.note.line and not each.retains and not each.seen]
    taken: dict[Node, PassNote] = {}
    for each in reversed(alike):
        taken |= {node: each for node, number in ops if number < each.begin}
    numbers = dict(ops)
    walked: dict[int, list[int]] = defaultdict(list)
    for node, each in taken.items():
        walked[each.index] += [numbers[node], numbers[node] + 1]
    return {node: replace(each, walked=array("Q", sorted(walked[each.index]))) for node, each in taken.items()}


def _crossing(
    path: list[Node], freed_by: dict[Node, PassNote], graph: Graph, repetition: tuple[Repetition, Iterations] | None
) -> int:
    """Where the path leads out of the present iteration, or into the freed part."""
    freed = _first_freed(path, freed_by)
    if repetition is None or repetition[0].made in ("now", "unknown"):
        return freed
    loop = repetition[1]
    start = loop.start_of(1 if repetition[0].made == "before" else loop.now) or loop.start_of(loop.now)
    if start is None:
        return freed
    return next((index for index, node in enumerate(path) if graph.number.get(node, start) < start), freed)


def _uncut(old: list[Node], graph: Graph, scene: Scene) -> Node:
    """The op that created what was carried on, behind those that only cut it up, as the head of a loop does."""
    first = old[0]
    if not cuts_up(first):
        return first
    here = scene.lines.stack_of(graph.number[first])
    parts = takewhile(lambda each: kind_of(each) in REARRANGING, old)
    cutting = list(takewhile(lambda each: scene.lines.stack_of(graph.number[each]) == here, parts))
    return next((each for each in old[len(cutting) :] if each in graph.number), first)


def _given(path: list[Node], meeting: list[Node], scene: Scene) -> int:
    """Where the line is given it at which a path comes to what a network gives: one call may create several ops."""
    stacks = [scene.lines.stack_of(scene.graph.number.get(node, -1)) for node in path]
    here, after = stacks[len(meeting) - 1], range(len(meeting), len(path))
    return next((index for index in after if stacks[index] != here), len(meeting))


def _created(fact: OpFact, repetition: tuple[Repetition, Iterations] | None, scene: Scene) -> OpFact:
    """With the step of its own iteration: what an earlier one created below its pass was not for the next one."""
    is_earlier = repetition is not None and repetition[0].made == "earlier"
    return replace(fact, step=fact.step - 1) if is_earlier and fact.step == scene.note.step > 1 else fact


def _is_recomputed(number: int, freeing: PassNote, scene: Scene) -> bool:
    """Whether a pass created ops and freed them again, with no call of the user's in between: a checkpoint does."""
    outer = next((each for each in scene.earlier if each.index == freeing.outer), None)
    return outer is not None and outer.begin <= number and outer.stack == freeing.stack


def _inside(freeing: PassFact, failing: Stack) -> PassFact:
    """Where a whole training step is a module's forward, the failing pass ran inside that too."""
    ours = [(frame.file, frame.function) for frame in freeing.stack]
    theirs = [(frame.file, frame.function) for frame in failing]
    pairs = enumerate(zip(ours, theirs, strict=False))
    shared = next((at for at, (mine, other) in pairs if mine != other), len(theirs))
    return replace(freeing, in_forward=any(runs(function, "forward") for _, function in ours[shared:]))


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


def _stepped(freeing: PassNote, scene: Scene) -> frozenset[str]:
    """The optimizers that stepped after a pass, before any other."""
    steps = scene.steps.since(freeing.index)
    return frozenset(str(each.optimizer) for each in steps if each.passes == steps[0].passes)


def _reached(freeing: PassNote, scene: Scene) -> frozenset[str]:
    """The optimizers to whose parameters a pass has led."""
    return frozenset(str(owner) for leaf in freeing.leaves for owner in scene.owners.get(leaf, ()))


def _discarded(freeing: PassNote, scene: Scene) -> frozenset[str]:
    """Those of them that have no gradient any more, and have not stepped since."""
    if not freeing.accumulates:
        return frozenset()
    stepped = {each.optimizer for each in scene.steps.since(freeing.index)}
    waiting = (each for each in scene.trained.optimizers if id(each) not in stepped)
    return frozenset(str(id(each)) for each in waiting if _is_cleared(each, freeing))


def _is_cleared(optimizer: Any, freeing: PassNote) -> bool:  # noqa: ANN401 # torch's class
    given = [each for each in parameters_of(optimizer) if id(each) in freeing.leaves]
    return bool(given) and all(each.grad is None for each in given)


def _owners(fresh: list[Any], stale: list[Any], freeing: PassNote, scene: Scene) -> Owners:
    owners = scene.owners
    reached, discarded = _reached(freeing, scene), _discarded(freeing, scene)

    def of(leaves: list[Any]) -> frozenset[str]:
        return frozenset(str(owner) for leaf in leaves for owner in owners.get(id(leaf), ()))

    one_line = scene.note.stack == freeing.stack
    served = whom_for(_stepped(freeing, scene), reached, discarded)
    return Owners(
        of(fresh),
        of(stale),
        by_optimizer=bool(owners),
        reached=reached,
        served=served,
        discarded=discarded,
        one_line=one_line,
    )
