"""Random trainings: something computed once, then iterations of forward, losses, passes, steps, and carried state."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import torch

from lifecycle.proof.vocabulary import OPERATIONS, VIEWS, Operation
from lifecycle.rehearsal.script import Backward, Clear, Del, Let, Line, Script, Squash, Step

VOCABULARY = tuple(
    each
    for each in OPERATIONS
    # No differences: where gradients cancel out, another gradient may be the same number.
    if each.text in {"{} * {}", "{} + {}", "{}.clone()", "{}.cumsum(0)", "{}.sin()", "{}.tanh()"}
)
VIEW = Operation("{}.view(-1)", 1, lambda x: x.view(-1), VIEWS[0].model)


@dataclass(frozen=True, slots=True)
class Training:
    """A script, and where its parts begin: the lines before the loop, then its iterations."""

    script: Script
    iterations: tuple[range, ...]  # lines of each iteration
    computed_once: range  # lines


def random_training(random: Random) -> Training:
    """A training of one to three iterations."""
    leaves = ["a", "b", "c"][: random.randint(1, 3)]
    opening = list(_lets(random, [f"p{number}" for number in range(random.randint(0, 3))], [*leaves, "x"]))
    lines: list[Line] = list(opening)
    body = _Body(random, tuple(leaves), tuple(each.name for each in opening))
    iterations = []
    for number in range(random.randint(1, 3)):
        start = len(lines)
        lines += body.lines(number)
        iterations.append(range(start, len(lines)))
    return Training(
        Script(_values(random, leaves), _values(random, ["x", "y", "h"]), tuple(lines)),
        tuple(iterations),
        range(len(opening)),
    )


class _Body:
    """What happens in every iteration, the same each time."""

    def __init__(self, random: Random, leaves: tuple[str, ...], once: tuple[str, ...]) -> None:
        locals_ = [f"v{number}" for number in range(random.randint(2, 6))]
        self._forward: list[Let | Squash] = list(_lets(random, locals_, [*leaves, "x", "y", "h", *once]))
        for number in range(len(self._forward), 0, -1):
            made = self._forward[number - 1]
            # PyTorch refuses an edit of a view of a leaf.
            if random.random() < 0.05 and isinstance(made, Let) and made.operation != VIEW:
                self._forward.insert(random.randint(number, len(self._forward)), Squash(made.name))
        self._state = random.choice([*locals_, *[None] * 4])
        self._locals = locals_
        owners = (leaves,) if random.random() < 0.6 else tuple((each,) for each in leaves)
        trained = _trained(self._forward, {*leaves, *once}) or locals_
        losses = [random.choice(trained) for _ in range(random.choice((1, 2, 2)))]
        self._clears = [Clear(each) for each in owners if random.random() < 0.8]
        passes = [Backward((each,), random.choice((None, None, True))) for each in losses]
        steps = [Step(each) for each in owners]
        self._training: list[Backward | Step] = [*passes, *steps]
        order = random.random()
        if order < 0.2:
            self._training = [passes[0], *steps, *passes[1:]]
        elif order < 0.4:
            random.shuffle(self._training)

    def lines(self, number: int) -> Iterator[Line]:
        """One iteration, under names of its own."""

        def named(name: str) -> str:
            if name == "h":
                return "h" if number == 0 or self._state is None else f"{self._state}_{number - 1}"
            return f"{name}_{number}" if name in self._locals else name

        yield from self._clears
        for each in self._forward:
            if isinstance(each, Let):
                yield Let(named(each.name), each.operation, tuple(map(named, each.inputs)))
            else:
                yield Squash(named(each.name))
        for act in self._training:
            yield Backward(tuple(map(named, act.losses)), act.retain) if isinstance(act, Backward) else act
        yield from (Del(named(each)) for each in self._locals if each != self._state)
        if self._state is not None and number:
            yield Del(named("h"))


def _trained(forward: list[Let | Squash], leaves: set[str]) -> list[str]:
    """The names that a parameter probably leads to."""
    found = set(leaves)
    for each in forward:
        if isinstance(each, Let) and found.intersection(each.inputs):
            found.add(each.name)
    return sorted(found - leaves)


def _lets(random: Random, names: list[str], known: list[str]) -> Iterator[Let]:
    known = list(known)
    for name in names:
        operation = random.choice((*VOCABULARY, VIEW))
        yield Let(name, operation, tuple(random.choice(known[-3:] + known) for _ in range(operation.inputs)))
        known.append(name)


def _values(random: Random, names: list[str]) -> dict[str, torch.Tensor]:
    return {
        name: torch.tensor([random.uniform(0.5, 1.5), random.uniform(-1.5, -0.5)], dtype=torch.float64)
        for name in names
    }
