"""A pass needed a value that was changed in place: by an optimizer's step, or else which ops may have saved it."""

import re
from math import prod

from gradsan.facts.incident import Edited, GraphPath, SavedValue, Stack, When
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.scene import Scene, moment, op_fact, pass_fact, path_fact
from gradsan.observe.failure.suspects import bare, is_seen_through, suspects_in
from gradsan.observe.failure.trained_again import shaped_by, trained_again
from gradsan.observe.graph import REARRANGING, Node, kind_of, leaves_of, parameters_behind, saves_values
from gradsan.observe.log.iterations import Repeats
from gradsan.observe.log.lines import Unknown
from gradsan.observe.notes import PassNote
from gradsan.observe.steps import StepNote

_SAID = re.compile(
    r"\[(?P<kind>\S+) \[(?P<shape>[\d, ]*)\]\](?:, which is output \d+ of (?P<op>[\w:]+),)?"
    r" is at version (?P<version>\d+); expected version (?P<expected>\d+)"
)


def edited(message: str, scene: Scene) -> Edited:
    """An optimizer is to blame where the value is a parameter that it owns, and it has stepped since."""
    graph, value = scene.graph, said(message)
    blamed = _stepped(graph, value, scene)
    if blamed is None:
        suspects = () if value is None else suspects_in(graph, value, scene)
        return Edited(
            failing=pass_fact(scene.note),
            value=value,
            suspects=suspects,
            saver=None,
            by_optimizer=False,
            optimizer=None,
            changed=(),
            when="unknown",
            path=GraphPath(),
            made=None,
            enters=None,
        )
    saver, owner, step = blamed
    path = graph.path(saver)
    crossing = _older_than(step, path, graph) or _shared(path, scene, graph) or _output(path, scene, graph)
    return Edited(
        failing=pass_fact(scene.note),
        value=value,
        saver=op_fact(saver, graph, {}, scene),
        by_optimizer=True,
        optimizer=str(owner),
        changed=step.stack,
        when=_when_saved(graph.number[saver], graph, scene),
        path=path_fact(path, graph, {}, scene),
        made=op_fact(path[crossing], graph, {}, scene),
        enters=op_fact(path[crossing - 1], graph, {}, scene) if crossing else None,
        proved=value is not None,
        retained=_retained(graph.number[saver], scene),
        joined=_is_joined(graph, owner, step, scene),
        trained_apart=_is_trained_apart(graph, path, crossing),
        again=_trains_through_new_ops(graph, step),
        shaped_by=shaped_by(graph, path, crossing),
    )


def said(message: str) -> SavedValue | None:
    """What PyTorch says about the value in its message."""
    found = _SAID.search(message)
    if found is None:
        return None
    op = found["op"]
    return SavedValue(
        kind=found["kind"],
        shape=tuple(int(size) for size in found["shape"].split(",") if size.strip()),
        op=None if op is None else bare(op),
        version=int(found["version"]),
        expected=int(found["expected"]),
    )


# An optimizer's step.


def _stepped(graph: Graph, value: SavedValue | None, scene: Scene) -> tuple[Node, int, StepNote] | None:
    """The newest op that saved a parameter which an optimizer has changed since; the engine runs the newest first."""
    owners = scene.owners
    blamed: list[tuple[bool, int, Node, int, StepNote]] = []
    for node, number in graph.number.items():
        if not saves_values(node):
            continue
        for leaf in parameters_behind(node, graph.below):
            if value is not None and not is_seen_through(leaf, value):
                continue
            for owner in owners.get(id(leaf), ()):
                step = scene.steps.last_of(owner)
                if step is not None and number < step.number:
                    is_whole = value is not None and leaf.numel() == prod(value.shape)
                    blamed.append((is_whole, number, node, owner, step))
    if not blamed:
        return None
    _, _, saver, owner, step = max(blamed, key=lambda each: each[:2])
    return saver, owner, step


def _is_trained_apart(graph: Graph, path: list[Node], crossing: int) -> bool:
    """Whether this pass trains the parameters behind the old part apart from it: that is an input, or a target."""
    created = graph.number[path[crossing]]
    old = {node for node, number in graph.number.items() if number <= created}
    return trained_again(graph, path, crossing, old)


def _is_joined(graph: Graph, owner: int, step: StepNote, scene: Scene) -> bool:
    """Whether the pass comes to parameters of another optimizer's only beside those that were changed.

    Where they lie behind what was changed, as a generator behind its critic, they are trained through it. What has used
    them before the step would lose its graph with the rest.
    """
    owners = scene.owners
    using: set[Node] = set()  # what was changed
    others: set[Node] = set()
    for node in graph.number:
        by = {each for leaf in parameters_behind(node, graph.below) for each in owners.get(id(leaf), ())}
        if owner in by:
            using.add(node)
        elif by and kind_of(node) not in REARRANGING:
            others.add(node)
    beside = others & graph.beneath(graph.roots, but_for=using)
    is_new = all(graph.number[node] >= step.number for node in beside)
    return bool(beside) and is_new and not others & graph.beneath(using)


def _trains_through_new_ops(graph: Graph, step: StepNote) -> bool:
    """Whether the pass comes to a parameter through nothing but what was created since a step."""
    older = {node for node, number in graph.number.items() if number < step.number}
    roots = [root for root in graph.roots if root not in older]
    return any(True for _ in leaves_of(graph.beneath(roots, but_for=older)))


def _older_than(step: StepNote, path: list[Node], graph: Graph) -> int:
    """Where a path leads back before an optimizer's step; 0 where all of it was there before."""
    ages = (graph.number.get(node, 0) for node in path)
    return next((index for index, age in enumerate(ages) if age < step.number), 0)


def _shared(path: list[Node], scene: Scene, graph: Graph) -> int:
    """Where a path leads into what the earlier pass walked and kept; 0 where there was none, or all of it is shared."""
    earlier = _retaining(graph.number[path[-1]], scene)
    ages = (graph.number.get(node, -1) for node in path)
    return next((index for index, age in enumerate(ages) if any(each.walks(age) for each in earlier[-1:])), 0)


def _output(path: list[Node], scene: Scene, graph: Graph) -> int:
    """The last op on the path that the saving line created, as the function sees it that asks for the pass.

    It is what the network of the changed parameters gave back.
    """
    lines, last = scene.lines, len(path) - 1
    saving = lines.stack_of(graph.number[path[last]])
    if isinstance(saving, Unknown):
        return last
    # The log may have begun further in than the stack of a pass: functions are compared, not places in the stack.
    asking = {(each.file, each.function) for each in scene.note.stack}
    depth = max((index for index, each in enumerate(saving) if (each.file, each.function) in asking), default=0)
    first = last
    while first > 1 and (number := graph.number.get(path[first - 1])) is not None:
        stack = lines.stack_of(number)
        if isinstance(stack, Unknown) or stack[: depth + 1] != saving[: depth + 1]:
            break
        first -= 1
    return first


def _retained(number: int, scene: Scene) -> Stack:
    """The pass that would have freed an op, had it not been asked to keep its graph."""
    return next((each.stack for each in reversed(_retaining(number, scene))), ())


def _retaining(number: int, scene: Scene) -> list[PassNote]:
    """The earlier passes that walked an op and kept its graph."""
    return [each for each in scene.earlier if each.retains and each.walks(number)]


def _when_saved(number: int, graph: Graph, scene: Scene) -> When:
    """Against the innermost loop whose present iteration did not save it; not one over losses that were there."""
    loops = [each for each in scene.loops if not graph.is_older_than(each)]
    moments = [(moment(number, loop), loop.kind) for loop in reversed(loops)]
    for each, kind in moments:
        # What was there before a line's calls is no older than the line.
        if each == "earlier" or (each == "before" and kind is Repeats.LOOP):
            return each
    return "now" if moments else "unknown"
