"""Every kind of change twice: made in the source of a training, and as the simulator knows it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from gradsan.lifecycle.events import Stepped, Walked
from gradsan.lifecycle.fix_changes import Change, Combine, Detach, NoGrad, Recompute, RemovePass, Retain
from gradsan.lifecycle.life_edits import views_rebuilt
from gradsan.lifecycle.ops import Op
from lifecycle.other_changes import Clone, DropRetain, MoveIntoLoop, Reorder, ZeroGrad
from lifecycle.rehearsal.script import Backward, Clear, Del, Let, Line, Score, Script, Squash, Step
from lifecycle.rehearsal.scripts import VIEW, Training


@dataclass(frozen=True, slots=True)
class Changed:
    """A training with one thing changed."""

    script: Script
    change: Change


T = TypeVar("T")
Changer = Callable[[Random, Training, Score], Changed | None]  # None: there is nothing of the kind to change


def detach_where_used(random: Random, training: Training, score: Score) -> Changed | None:
    """`f(h)` becomes `f(h.detach())`."""
    lines = training.script.lines
    number = _pick(random, (each for each in score.ops if isinstance(lines[each], Let)))
    if number is None:
        return None
    line = lines[number]
    assert isinstance(line, Let)
    name = random.choice(line.inputs)
    port = _op(score, number).inputs[line.inputs.index(name)]
    edges = frozenset() if port is None else frozenset({(score.ops[number], port)})
    return _with(training, {number: replace(line, detached=frozenset({name}))}, Detach(edges))


def detach_where_made(random: Random, training: Training, score: Score) -> Changed | None:
    """`h = f(x)` becomes `h = f(x).detach()`."""
    number = _pick(random, _free_lets(training, score))
    if number is None:
        return None
    line = training.script.lines[number]
    assert isinstance(line, Let)
    if line.operation == VIEW and views_rebuilt(score.life):  # it may have got another history since
        return None
    made = score.ops[number]
    edges = {(op.id, port) for op in score.life.made() for port in op.inputs if port is not None and port.node == made}
    change = Detach(frozenset(edges), frozenset({line.name}))
    return _with(training, {number: replace(line, is_detached=True)}, change)


def run_under_no_grad(random: Random, training: Training, score: Score) -> Changed | None:
    """`with torch.no_grad(): h = f(x)`."""
    # A view made there still requires a gradient, and leads nowhere: the simulator does not know such histories.
    lines = training.script.lines
    lets = (each for each in _free_lets(training, score) if getattr(lines[each], "operation", None) != VIEW)
    number = _pick(random, lets)
    if number is None:
        return None
    line = lines[number]
    assert isinstance(line, Let)
    return _with(training, {number: replace(line, no_grad=True)}, NoGrad(frozenset({score.ops[number]})))


def retain(random: Random, training: Training, score: Score) -> Changed | None:
    """`retain_graph=True`."""
    numbers = _some(random, score.passes)
    return _asking(training, score, numbers, Retain, retain=True)


def drop_retain(random: Random, training: Training, score: Score) -> Changed | None:
    """The reverse."""
    numbers = _some(random, score.passes)
    return _asking(training, score, numbers, DropRetain, retain=None)


def combine(random: Random, training: Training, score: Score) -> Changed | None:
    """One pass over the sum, in every iteration in which there are two."""
    numbers = _pick(random, [each for each in map(_passes_of(score), training.iterations) if len(each) > 1])
    if numbers is None:
        return None
    lines = training.script.lines
    losses = tuple(loss for each in numbers for loss in _backward(lines[each]).losses)
    edits: dict[int, Line | None] = dict.fromkeys(numbers[:-1])
    edits[numbers[-1]] = replace(_backward(lines[numbers[-1]]), losses=losses)
    return _with(training, edits, Combine(frozenset(score.passes[each] for each in numbers)))


def remove_pass(random: Random, training: Training, score: Score) -> Changed | None:
    """A pass less."""
    number = random.choice(list(score.passes))
    return _with(training, {number: None}, RemovePass(frozenset({score.passes[number]})))


def reorder(random: Random, training: Training, score: Score) -> Changed | None:
    """A pass or a step at another time of its iteration."""
    lines = list(training.script.lines)
    number = random.choice([each for each, line in enumerate(lines) if isinstance(line, Backward | Step)])
    line = lines[number]
    its_iteration = next(each for each in training.iterations if number in each)
    needed = line.losses if isinstance(line, Backward) else ()
    first = 1 + max(
        (each for each in its_iteration if _name(lines[each]) in needed and each < number), default=its_iteration[0]
    )
    last = min((each for each in its_iteration if isinstance(lines[each], Del)), default=its_iteration.stop)
    target = random.choice(range(first, last + 1))
    lines.insert(target, line)
    lines.pop(number if number < target else number + 1)
    before = _position(score, target)
    its_events = range(score.starts[number], score.ends[number])
    moved = next(each for each in its_events if isinstance(score.life.events[each], Walked | Stepped))
    return Changed(replace(training.script, lines=tuple(lines)), Reorder(moved, before))


def zero_grad(random: Random, training: Training, score: Score) -> Changed | None:
    """Gradients cleared once more."""
    leaves = tuple(training.script.leaves)
    number = random.randrange(len(training.script.lines) + 1)
    change = ZeroGrad(tuple(leaf.id for leaf in score.life.leaves), frozenset({_position(score, number)}))
    return Changed(_inserted(training.script, {number: [Clear(leaves)]}), change)


def clone(random: Random, training: Training, score: Score) -> Changed | None:
    """An edit out of place."""
    number = _pick(random, (each for each in score.ops if isinstance(training.script.lines[each], Squash)))
    if number is None:
        return None
    squash = training.script.lines[number]
    assert isinstance(squash, Squash)
    edit = score.starts[number] + 1
    return _with(training, {number: replace(squash, in_place=False)}, Clone(frozenset({edit})))


def recompute(random: Random, training: Training, score: Score) -> Changed | None:
    """A part of an iteration's forward once more, later in the same iteration."""
    lines = training.script.lines
    its_iteration = random.choice(training.iterations)
    forward = [each for each in its_iteration if isinstance(lines[each], Let | Squash)]
    first = random.choice((0, random.randrange(len(forward))))
    part = forward[first : random.choice((len(forward), random.randint(first + 1, len(forward))))]
    names = {_name(lines[each]) for each in part}
    targets = range(part[-1] + 1, 1 + max(each for each in its_iteration if isinstance(lines[each], Backward | Step)))
    # Of most interest: a pass after a step, over a forward that reads the updated parameters.
    after_step = [each for each in targets if isinstance(lines[each], Backward) and isinstance(lines[each - 1], Step)]
    target = _pick(random, after_step or targets)
    # An edit of one of the names outside the repeated part would be undone by it.
    edited = {_name(lines[each]) for each in its_iteration if isinstance(lines[each], Squash) and each not in part}
    made = {_name(lines[each]) for each in part if isinstance(lines[each], Let)}
    ops = [each for each in part if each in score.ops]
    if target is None or not ops or names & edited or names != made:
        return None
    change = Recompute(frozenset(score.ops[each] for each in ops), frozenset({_position(score, target)}))
    return Changed(_inserted(training.script, {target: [lines[each] for each in ops]}), change)


def move_into_loop(random: Random, training: Training, score: Score) -> Changed | None:  # noqa: ARG001 # all have one signature
    """What was computed once is computed in every iteration."""
    ops = [each for each in training.computed_once if each in score.ops]
    if not ops:
        return None
    lines = training.script.lines
    starts = [each.start for each in training.iterations]
    again = _inserted(training.script, {start: [lines[each] for each in ops] for start in starts})
    moved = tuple(line for number, line in enumerate(again.lines) if number not in ops)
    positions = frozenset(_position(score, each) for each in starts)
    return Changed(
        replace(training.script, lines=moved), MoveIntoLoop(frozenset(score.ops[each] for each in ops), positions)
    )


def _with(training: Training, edits: dict[int, Line | None], change: Change) -> Changed:
    lines = (edits.get(number, line) for number, line in enumerate(training.script.lines))
    return Changed(replace(training.script, lines=tuple(each for each in lines if each is not None)), change)


def _asking(
    training: Training,
    score: Score,
    numbers: list[int],
    change: Callable[[frozenset[int]], Change],
    *,
    retain: bool | None,
) -> Changed:
    lines = training.script.lines
    edits: dict[int, Line | None] = {each: replace(_backward(lines[each]), retain=retain) for each in numbers}
    return _with(training, edits, change(frozenset(score.passes[each] for each in numbers)))


def _inserted(script: Script, additions: dict[int, list[Line]]) -> Script:
    lines: list[Line] = []
    for number, line in enumerate(script.lines):
        lines += additions.get(number, [])
        lines.append(line)
    return replace(script, lines=(*lines, *additions.get(len(script.lines), [])))


def _free_lets(training: Training, score: Score) -> Iterator[int]:
    """Lines whose result is no loss, and is not edited: to detach those is an error of another kind."""
    lines = training.script.lines
    losses = {loss for line in lines if isinstance(line, Backward) for loss in line.losses}
    edited = {line.name for line in lines if isinstance(line, Squash)}
    return (each for each in score.ops if isinstance(lines[each], Let) and _name(lines[each]) not in losses | edited)


def _op(score: Score, number: int) -> Op:
    return next(op for op in score.life.made() if op.id == score.ops[number])


def _position(score: Score, number: int) -> int:
    return score.starts[number] if number < len(score.starts) else len(score.life.events)


def _passes_of(score: Score) -> Callable[[range], list[int]]:
    return lambda lines: [each for each in lines if each in score.passes]


def _backward(line: Line) -> Backward:
    assert isinstance(line, Backward)
    return line


def _name(line: Line) -> str | None:
    return line.name if isinstance(line, Let | Squash) else None


def _some(random: Random, numbers: Iterable[int]) -> list[int]:
    return [each for each in numbers if random.random() < 0.5]


def _pick(random: Random, among: Iterable[T]) -> T | None:
    choices: Sequence[T] = list(among)
    return random.choice(choices) if choices else None
