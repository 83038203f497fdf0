"""What a random program may do. Every instruction knows its source text, and runs in both worlds at once."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol

import torch

from lifecycle.proof.trial import Trial, Variable
from lifecycle.proof.vocabulary import NBYTES, Edit, Operation


class Instruction(Protocol):
    """One line of a random program; `str()` is its source."""

    def allowed(self, trial: Trial) -> bool:
        """Whether PyTorch defines what it does, as things stand."""
        ...

    def run(self, trial: Trial) -> None:
        """Do it in PyTorch and in the model."""
        ...


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf, new or sharing the storage of another tensor."""

    name: str
    of: str | None = None

    def __str__(self) -> str:
        made = "torch.ones(4)" if self.of is None else f"{self.of}.detach()"
        return f"{self.name} = {made}.requires_grad_()"

    def allowed(self, trial: Trial) -> bool:
        return self.of is None or self.of in trial.variables

    def run(self, trial: Trial) -> None:
        of = None if self.of is None else trial.variables[self.of]
        made = (torch.ones(4) if of is None else of.torch.detach()).requires_grad_()
        written = trial.tape.leaf(self.name, NBYTES, of=None if of is None else of.model)
        trial.bind(self.name, made, written, editable=of is None or of.editable)
        trial.watch_leaf(trial.variables[self.name])


@dataclass(frozen=True, slots=True)
class Data:
    """A tensor without history."""

    name: str

    def __str__(self) -> str:
        return f"{self.name} = torch.ones(4)"

    def allowed(self, trial: Trial) -> bool:
        return bool(trial)

    def run(self, trial: Trial) -> None:
        trial.bind(self.name, torch.ones(4), trial.tape.data(NBYTES))


@dataclass(frozen=True, slots=True)
class Apply:
    """An op, or a view."""

    name: str
    operation: Operation
    inputs: tuple[str, ...]
    no_grad: bool = False

    def __str__(self) -> str:
        line = f"{self.name} = {self.operation.text.format(*self.inputs)}"
        return f"with torch.no_grad(): {line}" if self.no_grad else line

    def allowed(self, trial: Trial) -> bool:
        return all(each in trial.variables for each in self.inputs)

    def run(self, trial: Trial) -> None:
        inputs = [trial.variables[each] for each in self.inputs]
        with torch.no_grad() if self.no_grad else nullcontext():
            made = self.operation.torch(*(each.torch for each in inputs))
        with trial.tape.no_grad() if self.no_grad else nullcontext():
            written = self.operation.model(trial.tape, *(each.model for each in inputs))
        # A view of something that may not be edited may not be edited either.
        trial.bind(self.name, made, written, editable=written.base is None or inputs[0].editable)


@dataclass(frozen=True, slots=True)
class Unbind:
    """One op with two outputs."""

    names: tuple[str, str]
    inputs: tuple[str, str]

    def __str__(self) -> str:
        return f"{', '.join(self.names)} = torch.stack([{', '.join(self.inputs)}]).unbind()"

    def allowed(self, trial: Trial) -> bool:
        return all(each in trial.variables for each in self.inputs) and self.names[0] != self.names[1]

    def run(self, trial: Trial) -> None:
        inputs = [trial.variables[each] for each in self.inputs]
        first, second = torch.stack([each.torch for each in inputs]).unbind()
        stacked = trial.tape.apply("StackBackward0", *(each.model for each in inputs), nbytes=2 * NBYTES)
        unbound = trial.tape.view("UnbindBackward0", stacked, outputs=2)
        # PyTorch refuses to edit one of several views that a single op created.
        trial.bind(self.names[0], first, unbound[0], editable=False)
        trial.bind(self.names[1], second, unbound[1], editable=False)


@dataclass(frozen=True, slots=True)
class Detach:
    """The same storage without history."""

    name: str
    of: str

    def __str__(self) -> str:
        return f"{self.name} = {self.of}.detach()"

    def allowed(self, trial: Trial) -> bool:
        return self.of in trial.variables

    def run(self, trial: Trial) -> None:
        of = trial.variables[self.of]
        trial.bind(self.name, of.torch.detach(), trial.tape.detach(of.model), editable=of.editable)


@dataclass(frozen=True, slots=True)
class Change:
    """An edit in place, recorded or under `no_grad`."""

    edit: Edit
    target: str
    others: tuple[str, ...] = ()
    no_grad: bool = False

    def __str__(self) -> str:
        line = self.edit.text.format(self.target, *self.others)
        return f"with torch.no_grad(): {line}" if self.no_grad else line

    def allowed(self, trial: Trial) -> bool:
        if not all(each in trial.variables for each in (self.target, *self.others)):
            return False
        target = trial.variables[self.target]
        if self.no_grad:
            return target.editable
        # PyTorch takes a view for a leaf while it has no history of its own, even when its base has got one since.
        is_taken_for_leaf = target.model.history is None and trial.tape.is_outdated(target.model)
        return target.editable and not (target.model.base or target.model).is_leaf and not is_taken_for_leaf

    def run(self, trial: Trial) -> None:
        variables = [trial.variables[each] for each in (self.target, *self.others)]
        with torch.no_grad() if self.no_grad else nullcontext():
            self.edit.torch(*(each.torch for each in variables))
        with trial.tape.no_grad() if self.no_grad else nullcontext():
            self.edit.model(trial.tape, *(each.model for each in variables))


@dataclass(frozen=True, slots=True)
class ChangeUnseen:
    """An edit that autograd does not notice."""

    target: str

    def __str__(self) -> str:
        return f"{self.target}.data.mul_(2.0)"

    def allowed(self, trial: Trial) -> bool:
        return self.target in trial.variables and trial.variables[self.target].editable

    def run(self, trial: Trial) -> None:
        target = trial.variables[self.target]
        target.torch.data.mul_(2.0)
        trial.tape.edit("MulBackward0", trial.tape.bare(target.model))


@dataclass(frozen=True, slots=True)
class Delete:
    """A name lets go."""

    name: str

    def __str__(self) -> str:
        return f"del {self.name}"

    def allowed(self, trial: Trial) -> bool:
        return self.name in trial.variables and len(trial.variables) > 2

    def run(self, trial: Trial) -> None:
        trial.forget(self.name)


@dataclass(frozen=True, slots=True)
class Backward:
    """A pass that adds to `.grad`."""

    roots: tuple[str, ...]
    inputs: tuple[str, ...] | None = None
    retain_graph: bool | None = None

    def __str__(self) -> str:
        inputs = "" if self.inputs is None else f", inputs=[{', '.join(self.inputs)}]"
        ones = ", ".join("one" for _ in self.roots)
        return f"backward([{', '.join(self.roots)}], [{ones}], retain_graph={self.retain_graph}{inputs})"

    def allowed(self, trial: Trial) -> bool:
        if not all(each in trial.variables for each in (*self.roots, *(self.inputs or ()))):
            return False
        # From then on a tensor that is no leaf keeps every gradient it gets, also one with a graph of its own.
        return not trial.second_order or _are_leaves(self.inputs or (), trial)

    def run(self, trial: Trial) -> None:
        roots = [trial.variables[each] for each in self.roots]
        inputs = None if self.inputs is None else [trial.variables[each] for each in self.inputs]
        trial.walk(roots, inputs, retain_graph=self.retain_graph, asks=self._ask)

    def _ask(self, roots: list[torch.Tensor], inputs: list[torch.Tensor] | None) -> None:
        ones = [torch.ones(4) for _ in roots]
        torch.autograd.backward(roots, ones, retain_graph=self.retain_graph, inputs=inputs)


@dataclass(frozen=True, slots=True)
class Grad:
    """A pass that returns gradients and binds them to names, with their own graph if asked for."""

    names: tuple[str, ...]
    roots: tuple[str, ...]
    inputs: tuple[str, ...]
    retain_graph: bool | None = None
    create_graph: bool = False
    allow_unused: bool = True

    def __str__(self) -> str:
        ones = ", ".join("one" for _ in self.roots)
        return (
            f"{', '.join(self.names)} = grad([{', '.join(self.roots)}], [{', '.join(self.inputs)}], [{ones}],"
            f" retain_graph={self.retain_graph}, create_graph={self.create_graph}, allow_unused={self.allow_unused})"
        )

    def allowed(self, trial: Trial) -> bool:
        known = all(each in trial.variables for each in (*self.roots, *self.inputs))
        return known and (trial.second_order or not self.create_graph)

    def run(self, trial: Trial) -> None:
        gradients = trial.walk(
            [trial.variables[each] for each in self.roots],
            [trial.variables[each] for each in self.inputs],
            retain_graph=self.retain_graph,
            create_graph=self.create_graph,
            accumulates=False,
            allows_unused=self.allow_unused,
            asks=self._ask,
        )
        for name, gradient in zip(self.names, gradients, strict=False):
            if gradient is not None:
                # PyTorch may hand out one tensor twice, or a tensor it still needs.
                trial.bind(name, gradient, trial.gradient(gradient), editable=False)

    def _ask(self, roots: list[torch.Tensor], inputs: list[torch.Tensor] | None) -> tuple[torch.Tensor | None, ...]:
        return torch.autograd.grad(
            roots,
            inputs or [],
            [torch.ones(4) for _ in roots],
            retain_graph=self.retain_graph,
            create_graph=self.create_graph,
            allow_unused=self.allow_unused,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """An optimizer's step."""

    leaves: tuple[str, ...]

    def __str__(self) -> str:
        return f"torch.optim.SGD([{', '.join(self.leaves)}], lr=0.1).step()"

    def allowed(self, trial: Trial) -> bool:
        return _are_leaves(self.leaves, trial) and all(trial.variables[each].editable for each in self.leaves)

    def run(self, trial: Trial) -> None:
        leaves = _each_once(self.leaves, trial)
        torch.optim.SGD([each.torch for each in leaves], lr=0.1, foreach=False).step()
        trial.tape.step("SGD", *(each.model for each in leaves))


@dataclass(frozen=True, slots=True)
class Clear:
    """Gradients are cleared."""

    leaves: tuple[str, ...]
    to_none: bool = True

    def __str__(self) -> str:
        return f"torch.optim.SGD([{', '.join(self.leaves)}]).zero_grad(set_to_none={self.to_none})"

    def allowed(self, trial: Trial) -> bool:
        return _are_leaves(self.leaves, trial)

    def run(self, trial: Trial) -> None:
        leaves = _each_once(self.leaves, trial)
        torch.optim.SGD([each.torch for each in leaves]).zero_grad(set_to_none=self.to_none)
        trial.tape.clear(*(each.model for each in leaves), to_none=self.to_none)


def _are_leaves(names: tuple[str, ...], trial: Trial) -> bool:
    return all(each in trial.variables and trial.variables[each].model.is_leaf for each in names)


def _each_once(names: tuple[str, ...], trial: Trial) -> list[Variable]:
    return list({id(trial.variables[each].torch): trial.variables[each] for each in names}.values())
