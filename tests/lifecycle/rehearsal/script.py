"""Small trainings as straight-line programs. Every line knows its source, and runs in PyTorch and in the model."""

# ruff: noqa: D102  # the protocol documents the methods of all lines

from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from gradsan.lifecycle.events import Life
from lifecycle.proof.trial import MESSAGES
from lifecycle.proof.vocabulary import Operation
from lifecycle.tensor_rules import Tape, Tensor

NBYTES = 16  # every tensor is two doubles
Uses = dict[str, list[torch.Tensor | None]]


@dataclass
class Run:
    """A script as PyTorch runs it."""

    update: float  # what an optimizer's step multiplies parameters with, whatever the gradient
    keep_all: bool = False  # every pass retains its graph
    names: dict[str, torch.Tensor] = field(default_factory=dict)
    leaves: dict[str, torch.Tensor] = field(default_factory=dict)
    passes: int = 0
    error: str | None = None  # which error ended it, at the last of the passes
    used: Uses = field(default_factory=dict)
    stepped: list[tuple[str, ...]] = field(default_factory=list)
    bytes: list[int | None] = field(default_factory=list)  # after each pass

    def __post_init__(self) -> None:
        self.fresh: set[str] = set()  # leaves that received something since it was last used or cleared
        for name, leaf in self.leaves.items():
            leaf.register_post_accumulate_grad_hook(lambda _, name=name: self.fresh.add(name))

    def use(self, leaf: str) -> None:
        """Note the leaf's gradient."""
        self.fresh.discard(leaf)
        gradient = self.leaves[leaf].grad
        self.used.setdefault(leaf, []).append(None if gradient is None else gradient.clone())


@dataclass
class Score:
    """A script as the model writes it: where in the life each line stands."""

    tape: Tape = field(default_factory=Tape)
    names: dict[str, Tensor] = field(default_factory=dict)
    ops: dict[int, int] = field(default_factory=dict)  # line → op
    passes: dict[int, int] = field(default_factory=dict)  # line → pass
    starts: list[int] = field(default_factory=list)  # line → position of its first event
    ends: list[int] = field(default_factory=list)  # line → position after its last event

    @property
    def life(self) -> Life:
        """What is written."""
        return self.tape.life()


class Line(Protocol):
    """One line of a script."""

    def run(self, run: Run) -> None:
        """Do it in PyTorch."""
        ...

    def write(self, score: Score, line: int) -> None:
        """Write it down."""
        ...


@dataclass(frozen=True, slots=True)
class Let:
    """`name = op(inputs)`."""

    name: str
    operation: Operation
    inputs: tuple[str, ...]
    detached: frozenset[str] = frozenset()  # inputs
    is_detached: bool = False  # the output
    no_grad: bool = False

    def __str__(self) -> str:
        inputs = (f"{each}.detach()" if each in self.detached else each for each in self.inputs)
        line = f"{self.name} = {self.operation.text.format(*inputs)}{'.detach()' if self.is_detached else ''}"
        return f"with no_grad(): {line}" if self.no_grad else line

    def run(self, run: Run) -> None:
        inputs = (run.names[each].detach() if each in self.detached else run.names[each] for each in self.inputs)
        with torch.set_grad_enabled(not self.no_grad):
            made = self.operation.torch(*inputs)
        run.names[self.name] = made.detach() if self.is_detached else made

    def write(self, score: Score, line: int) -> None:
        made = self.operation.model(score.tape, *(score.names[each] for each in self.inputs))
        score.names[self.name] = made
        if made.history is not None:
            score.ops[line] = made.history.node
        score.tape.hold(self.name, made)


@dataclass(frozen=True, slots=True)
class Squash:
    """`name.tanh_()`, an edit in place, or the same out of place."""

    name: str
    in_place: bool = True

    def __str__(self) -> str:
        return f"{self.name}.tanh_()" if self.in_place else f"{self.name} = {self.name}.tanh()"

    def run(self, run: Run) -> None:
        if self.in_place:
            run.names[self.name].tanh_()
        else:
            run.names[self.name] = run.names[self.name].tanh()

    def write(self, score: Score, line: int) -> None:
        score.tape.edit("TanhBackward0", score.names[self.name], saves_result=True)
        history = score.names[self.name].history
        if history is not None:
            score.ops[line] = history.node


@dataclass(frozen=True, slots=True)
class Del:
    """`del name`."""

    name: str

    def __str__(self) -> str:
        return f"del {self.name}"

    def run(self, run: Run) -> None:
        del run.names[self.name]

    def write(self, score: Score, line: int) -> None:  # noqa: ARG002 # the protocol's
        del score.names[self.name]
        score.tape.let_go(self.name)


@dataclass(frozen=True, slots=True)
class Backward:
    """`(a + b).backward()`."""

    losses: tuple[str, ...]
    retain: bool | None = None

    def __str__(self) -> str:
        return f"({' + '.join(self.losses)}).backward(one, retain_graph={self.retain})"

    def run(self, run: Run) -> None:
        run.passes += 1
        loss = run.names[self.losses[0]]
        for each in self.losses[1:]:
            loss = loss + run.names[each]
        try:
            loss.backward(torch.ones(2, dtype=torch.float64), retain_graph=True if run.keep_all else self.retain)
        except RuntimeError as error:
            run.error = next(reason for message, reason in MESSAGES.items() if message in str(error))
        del loss
        run.bytes.append(saved_bytes(run))

    def write(self, score: Score, line: int) -> None:
        score.passes[line] = score.tape.walk(*(score.names[each] for each in self.losses), retain_graph=self.retain).id


@dataclass(frozen=True, slots=True)
class Step:
    """`optimizer.step()`: an update that is the same whatever the gradient, but made only where there is one."""

    leaves: tuple[str, ...]

    def __str__(self) -> str:
        return f"step({', '.join(self.leaves)})"

    def run(self, run: Run) -> None:
        updated = tuple(each for each in self.leaves if run.leaves[each].grad is not None)
        run.stepped.append(updated)
        for each in self.leaves:
            run.use(each)
        with torch.no_grad():
            for each in updated:
                run.leaves[each].mul_(run.update)

    def write(self, score: Score, line: int) -> None:  # noqa: ARG002 # the protocol's
        score.tape.step(" ".join(self.leaves), *(score.names[each] for each in self.leaves))


@dataclass(frozen=True, slots=True)
class Clear:
    """`optimizer.zero_grad()`."""

    leaves: tuple[str, ...]

    def __str__(self) -> str:
        return f"zero_grad({', '.join(self.leaves)})"

    def run(self, run: Run) -> None:
        for each in self.leaves:
            run.leaves[each].grad = None
            run.fresh.discard(each)

    def write(self, score: Score, line: int) -> None:  # noqa: ARG002 # the protocol's
        score.tape.clear(*(score.names[each] for each in self.leaves))


@dataclass(frozen=True, slots=True)
class Script:
    """A training: its parameters, its data, and its lines, all iterations written out."""

    leaves: dict[str, torch.Tensor]
    data: dict[str, torch.Tensor]
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines))

    def run(self, *, update: float, keep_all: bool = False) -> Run:
        """What PyTorch makes of it; it ends with the first error, unless every graph is kept."""
        leaves = {name: value.clone().requires_grad_() for name, value in self.leaves.items()}
        run = Run(update, keep_all=keep_all, names=leaves | self.data, leaves=leaves)
        for line in self.lines:
            line.run(run)
            if run.error:
                break
        if run.error is None:
            for leaf in sorted(run.fresh):
                run.use(leaf)
        return run

    def write(self) -> Score:
        """Its life."""
        score = Score()
        score.names |= {name: score.tape.leaf(name, NBYTES) for name in self.leaves}
        score.names |= {name: score.tape.data(NBYTES) for name in self.data}
        for number, line in enumerate(self.lines):
            score.starts.append(len(score.life.events))
            line.write(score, number)
            score.ends.append(len(score.life.events))
        return score


def saved_bytes(run: Run) -> int | None:
    """The bytes of all saved values that the program's names lead to, parameters apart; None: one cannot be read."""
    found: dict[int, int] = {}
    seen: set[Any] = set()
    stack = [each.grad_fn for each in run.names.values()]
    while stack:
        node = stack.pop()
        if node is None or node in seen or node.name().endswith("AccumulateGrad"):
            continue
        seen.add(node)
        stack += [each for each, _ in node.next_functions]
        try:
            values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        except RuntimeError as error:
            if "a second time" not in str(error):
                return None
            continue
        for value in values:
            if isinstance(value, torch.Tensor):
                found[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
    for leaf in run.leaves.values():
        found.pop(leaf.untyped_storage().data_ptr(), None)
    return sum(found.values())
