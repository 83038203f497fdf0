"""What was wrong with a pass that PyTorch stopped, read from the live graph and the notes, while both are there."""

import threading
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from typing import Any

from gradsan.lifecycle.incident import (
    LONGEST_PATH,
    Donated,
    Edited,
    Incident,
    Kinship,
    OpFact,
    Owners,
    PassFact,
    ReadAfterFree,
    Repetition,
    SecondPass,
    Stack,
    Way,
    When,
    WithoutHistory,
)
from gradsan.observe.graph import about_bytes, leaves_of, loss_chain, parameters_behind, reach, roots_of, saves_values
from gradsan.observe.log.lines import Lines, Unknown
from gradsan.observe.log.rounds import BEFORE, Rounds
from gradsan.observe.modules import module_names
from gradsan.observe.passes import Passes, PassNote
from gradsan.observe.private import creation_number
from gradsan.observe.steps import StepNote, Steps

Node = Any  # autograd's ops have no public type

FREED = "Trying to backward through the graph a second time"
EDITED = "has been modified by an inplace operation"
DONATED = "compiled with non-empty donated buffers"
WITHOUT_HISTORY = "does not require grad and does not have a grad_fn"


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is at hand when a pass has failed."""

    tensors: tuple[Any, ...]
    note: PassNote
    passes: Passes
    steps: Steps
    lines: Lines | None
    in_checkpoint: bool


def examine(message: str, scene: Scene) -> Incident | None:
    """What kind of failure it was, with its facts; None: gradsan does not explain that kind, or not enough is known."""
    if FREED in message:
        return _second_pass(scene)
    if EDITED in message:
        return _edited(scene)
    if DONATED in message:
        return Donated(_fact(scene.note))
    if WITHOUT_HISTORY in message:
        return WithoutHistory(_fact(scene.note))
    return None


class _Graph:
    """The graph that the failing pass was to walk."""

    def __init__(self, scene: Scene) -> None:
        self.roots = roots_of(scene.tensors)
        self.below = reach(self.roots)
        self.number: dict[Node, int] = {}
        for node in self.below:
            number = creation_number(node)
            if number is not None:
                self.number[node] = number
        self._modules = module_names()

    def module(self, node: Node) -> str | None:
        """The module whose parameter an op uses."""
        names = (self._modules.get(id(leaf)) for leaf in parameters_behind(node, self.below))
        return next((name for name in names if name is not None), None)

    def path(self, target: Node) -> list[Node]:
        """A shortest way from a root to an op."""
        came: dict[Node, Node | None] = dict.fromkeys(self.roots)
        queue = deque(self.roots)
        while queue:
            node = queue.popleft()
            if node is target:
                break
            for each in self.below[node]:
                if each not in came:
                    came[each] = node
                    queue.append(each)
        way = [target]
        while (above := came[way[-1]]) is not None:
            way.append(above)
        return way[::-1]


def _second_pass(scene: Scene) -> SecondPass | None:
    graph = _Graph(scene)
    freed_by = _consumers(graph, scene)
    victims = [node for node in freed_by if saves_values(node)]
    if not victims:
        return None
    # The engine runs the newest op first, so that is where it stopped.
    victim = max(victims, key=lambda node: graph.number[node])
    freeing = freed_by[victim]
    path = graph.path(victim)
    repetition = _repetition(graph, path, freeing, scene)
    crossing = _crossing(path, freed_by, graph, repetition)
    fresh = _fresh_leaves(graph, freed_by)
    stale = list(leaves_of(reach(freed_by)))
    victim_name = victim.name()
    return SecondPass(
        failing=_fact(scene.note),
        freeing=_fact(freeing),
        path=_facts(path, graph, freed_by, scene),
        made=_op(path[crossing], graph, freed_by, scene),
        enters=_op(path[crossing - 1], graph, freed_by, scene) if crossing else None,
        kinship=_kinship(graph, scene, fresh=bool(fresh)),
        repetition=repetition[0] if repetition else None,
        updated_between=_updated(freeing, graph, scene),
        cleared_between=any(leaf.grad is None for leaf in stale),
        owners=_owners(fresh, stale, freeing, scene),
        consumed=frozenset(graph.number[node] for node in freed_by),
        consumed_bytes=sum(about_bytes(node) for node in victims),
        compiled=victim_name.startswith("CompiledFunction"),
        checkpointed=scene.in_checkpoint,
        own_backward=scene.note.outer is not None
        and any(_runs(frame.function, "backward") for frame in scene.note.stack),
    )


def _consumers(graph: _Graph, scene: Scene) -> dict[Node, PassNote]:
    """The ops that earlier passes had freed, each with the first that did."""
    earlier = [
        each
        for each in scene.passes.before(scene.note)
        if not each.retains and each.thread == scene.note.thread and each.walked is not None
    ]
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
    path: list[Node], freed_by: dict[Node, PassNote], graph: _Graph, repetition: tuple[Repetition, Rounds] | None
) -> int:
    """Where the way leads out of the present round, or into the freed part."""
    freed = next(index for index, node in enumerate(path) if node in freed_by)
    if repetition is None or repetition[0].made in ("now", "unknown"):
        return freed
    start = repetition[1].start_of(repetition[0].now)
    if start is None:
        return freed
    return next((index for index, node in enumerate(path) if graph.number.get(node, start) < start), freed)


def _repetition(graph: _Graph, path: list[Node], freeing: PassNote, scene: Scene) -> tuple[Repetition, Rounds] | None:
    """The innermost loop of steps in which the two passes fall into different rounds."""
    if scene.lines is None:
        return None
    loops = scene.lines.rounds()
    updated = bool(scene.steps.since(freeing.index))
    made = next(graph.number[node] for node in path if node in graph.number and freeing.walks(graph.number[node]))
    for place in reversed(range(len(loops))):
        loop = loops[place]
        # The op counter may stand still from a pass to the next round: what came before the pass tells its round.
        freed = loop.round_of(max(freeing.begin - 1, 0))
        if loop.now in (freed, BEFORE):
            continue
        start = loop.start_of(loop.now)
        if start is None or not _is_loop_of_steps(graph, start, updated=updated):
            continue
        rounds = _maker_rounds(made, loop, scene.lines)
        when = _when(made, loop)
        if when == "before" and loop.now in rounds and _is_under(loop, scene.lines.stack_of(made)):
            # A generator that the loop draws from: its first item is made while the header is evaluated.
            when = "earlier"
        outer = loops[place - 1] if place else None
        repetition = Repetition(
            header=loop.frame,
            now=loop.now,
            freed=freed,
            made=when,
            maker_runs=len(rounds),
            maker_ran_now=loop.now in rounds,
            made_in_outer_round=outer is not None and outer.round_of(made) == outer.now,
        )
        return repetition, loop
    return None


def _is_loop_of_steps(graph: _Graph, start: int, *, updated: bool) -> bool:
    """Whether its present round made what the pass was asked for; a loop over losses that are there already is none."""
    if all(graph.number.get(root, start) < start for root in graph.roots):
        return False
    return updated or any(
        number >= start and any(True for _ in leaves_of(graph.below[node])) for node, number in graph.number.items()
    )


def _when(number: int, loop: Rounds) -> When:
    made = loop.round_of(number)
    if made is None:
        return "unknown"
    if made == BEFORE:
        return "before"
    return "now" if made == loop.now else "earlier"


def _is_under(loop: Rounds, stack: Stack | Unknown) -> bool:
    """Whether the loop's own header had called for what was made."""
    return not isinstance(stack, Unknown) and loop.frame in stack


def _maker_rounds(number: int, loop: Rounds, lines: Lines) -> set[int]:
    """The rounds in which the line that made an op made ops."""
    stack = lines.stack_of(number)
    if isinstance(stack, Unknown):
        return set()
    innermost = stack[-1]
    rounds = (loop.round_of(start) for start, _ in lines.made_by(innermost.file, innermost.line))
    return {each for each in rounds if each is not None and each != BEFORE}


def _kinship(graph: _Graph, scene: Scene, *, fresh: bool) -> Kinship:
    """Whether the failing root is a loss that an earlier pass took, or a total with such a loss in it."""
    chain = {graph.number[node] for node in loss_chain(graph.roots)}
    taken = {each.losses[0] for each in scene.passes.before(scene.note) if not chain.isdisjoint(each.losses)}
    if not taken:
        return "none"
    return "total" if fresh or len(taken) > 1 else "same"


def _fresh_leaves(graph: _Graph, freed_by: dict[Node, PassNote]) -> list[Any]:
    """The leaves that are reached without walking a freed op."""
    below = reach((root for root in graph.roots if root not in freed_by), within=lambda node: node not in freed_by)
    return list(leaves_of(below))


def _updated(freeing: PassNote, graph: _Graph, scene: Scene) -> bool:
    """Whether a parameter was changed since: by an optimizer, or by hand."""
    if scene.steps.since(freeing.index):
        return True
    return any(freeing.leaves.get(id(leaf), leaf._version) != leaf._version for leaf in leaves_of(graph.below))  # noqa: SLF001 # how autograd counts edits


def _owners(fresh: list[Any], stale: list[Any], freeing: PassNote, scene: Scene) -> Owners:
    owners = scene.steps.owners()
    steps = scene.steps.since(freeing.index)
    stepped = frozenset(str(each.optimizer) for each in steps[:1])

    def of(leaves: list[Any]) -> frozenset[str]:
        return frozenset(str(owner) for leaf in leaves for owner in owners.get(id(leaf), ()))

    return Owners(of(fresh), of(stale), by_optimizer=bool(owners), stepped=stepped)


def _edited(scene: Scene) -> Edited:
    """An optimizer is to blame where it owns a parameter that an older op may have saved, and has stepped since."""
    graph = _Graph(scene)
    owners = scene.steps.owners()
    blamed: list[tuple[int, Node, int]] = []
    for node, number in graph.number.items():
        if not saves_values(node):
            continue
        for leaf in parameters_behind(node, graph.below):
            for owner in owners.get(id(leaf), ()):
                step = scene.steps.last_of(owner)
                if step is not None and number < step.number:
                    blamed.append((number, node, owner))
    if not blamed:
        return Edited(
            failing=_fact(scene.note),
            saver=None,
            by_optimizer=False,
            optimizer=None,
            changed=(),
            when="unknown",
            path=Way(),
            made=None,
            enters=None,
        )
    _, saver, owner = max(blamed, key=lambda each: each[0])
    step = scene.steps.last_of(owner)
    path = graph.path(saver)
    crossing = _older_than(step, path, graph)
    return Edited(
        failing=_fact(scene.note),
        saver=_op(saver, graph, {}, scene),
        by_optimizer=True,
        optimizer=str(owner),
        changed=step.stack if step else (),
        when=_when_saved(graph.number[saver], scene.lines),
        path=_facts(path, graph, {}, scene),
        made=_op(path[crossing], graph, {}, scene),
        enters=_op(path[crossing - 1], graph, {}, scene) if crossing else None,
    )


def _older_than(step: StepNote | None, path: list[Node], graph: _Graph) -> int:
    """Where a path leads back before an optimizer's step; its end, where all of it does."""
    ages = [graph.number.get(node, 0) for node in path]
    first = next((index for index, age in enumerate(ages) if step is not None and age < step.number), 0)
    return first or len(path) - 1


def _when_saved(number: int, lines: Lines | None) -> When:
    """Against the innermost running loop whose present round did not save it."""
    loops = lines.rounds() if lines is not None else ()
    moments = [_when(number, loop) for loop in reversed(loops)]
    return next((each for each in moments if each in ("before", "earlier")), "now" if moments else "unknown")


def _fact(note: PassNote) -> PassFact:
    return PassFact(
        kind="backward" if note.accumulates else "grad",
        retains=note.retains,
        stack=note.stack,
        step=note.step,
        begin=note.begin,
        nested=note.outer is not None,
        in_forward=any(_runs(frame.function, "forward") for frame in note.stack),
        seen=note.seen,
    )


def _runs(qualified: str, method: str) -> bool:
    return qualified.rpartition(".")[2] == method and "." in qualified


def _facts(path: list[Node], graph: _Graph, freed_by: dict[Node, PassNote], scene: Scene) -> Way:
    half = LONGEST_PATH // 2
    left_out = max(len(path) - LONGEST_PATH, 0)
    ends = [*path[:half], *path[-half:]] if left_out else path
    return Way(tuple(_op(node, graph, freed_by, scene) for node in ends), left_out)


def _op(node: Node, graph: _Graph, freed_by: dict[Node, PassNote], scene: Scene) -> OpFact:
    number = graph.number.get(node)
    if number is None:
        return OpFact(str(node.name()), None)
    stack = () if scene.lines is None else scene.lines.stack_of(number)
    return OpFact(
        name=str(node.name()).rpartition("::")[2],
        number=number,
        stack=() if isinstance(stack, Unknown) else stack,
        consumed=node in freed_by,
        step=scene.passes.step_of(number, scene.note),
        module=graph.module(node),
    )


def examine_raised(message: str, passes: Passes, stack: Stack) -> ReadAfterFree | None:
    """An error that came from no pass: saved values of a freed op were read."""
    if FREED not in message:
        return None
    here = threading.get_ident()
    freeing = [each for each in passes.all() if not each.retains and not each.failed and each.thread == here]
    reader = PassFact("backward", retains=False, stack=stack, step=1, begin=0)
    return ReadAfterFree(reader, _fact(freeing[-1]) if freeing else None)
