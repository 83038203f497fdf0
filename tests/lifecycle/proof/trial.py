"""One program, run in PyTorch and in the model side by side, and everything the two must agree on."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from gradsan.lifecycle.engine import Reason
from gradsan.lifecycle.ops import Op, Port, Saved
from gradsan.lifecycle.simulator import play
from lifecycle.tensor_rules import Tape, Tensor

Node = Any  # torch.autograd.graph.Node, whose private parts are untyped
MESSAGES: dict[str, Reason] = {
    "Trying to backward through the graph a second time": "freed",
    "has been modified by an inplace operation": "edited",
    "does not require grad": "no-history",
    "can't retain_grad on Tensor that has requires_grad=False": "no-history",
    "appears to not have been used in the graph": "unused",
}


class Disagreement(AssertionError):  # noqa: N818  # it is what the proof looks for, not an error of the program
    """The model and PyTorch part ways."""


class Token:
    """Put into an op's metadata, it dies with the op."""


@dataclass(slots=True)
class Variable:
    """A name's value in both worlds."""

    torch: torch.Tensor
    model: Tensor
    editable: bool = True  # False: PyTorch refuses an edit of it, or leaves undefined what that does


@dataclass
class Trial:
    """The two worlds."""

    second_order: bool = False  # gradients may have graphs of their own
    tape: Tape = field(default_factory=Tape)
    variables: dict[str, Variable] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ops: dict[int, Op] = {}  # PyTorch's creation number → the model's op
        self._known = 0  # ops of the tape that have been paired with PyTorch's
        self._tokens: dict[int, weakref.ref[Token]] = {}
        self._entered: list[int] = []  # ops in the order in which PyTorch runs them
        self._accumulated: list[Port] = []  # leaves, likewise
        self._leaves: list[Variable] = []
        self._adopted = False

    def bind(self, name: str, made: torch.Tensor, written: Tensor, *, editable: bool = True) -> None:
        """Give a name to a value; what it held before may die."""
        self.variables[name] = Variable(made, written, editable)
        self.tape.hold(name, written)

    def forget(self, name: str) -> None:
        """Delete a name."""
        del self.variables[name]
        self.tape.let_go(name)

    def watch_leaf(self, leaf: Variable) -> None:
        """Note every gradient that is added to the leaf."""
        port = leaf.model.history
        assert port is not None
        self._leaves.append(leaf)
        leaf.torch.register_post_accumulate_grad_hook(lambda _: self._accumulated.append(port))

    def match(self) -> None:
        """Pair the ops that the model wrote for the last line with those that PyTorch made and that are still there.

        From the newest back: a history that is rebuilt twice in one line has its first form gone already. PyTorch also
        spends numbers on ops nobody can see, such as the one inside CopySlices.
        """
        written = self._written()
        for node in sorted(self._unmet(), key=_number, reverse=True):
            while written and not node.name().endswith(written[-1].name):
                written.pop()
            if not written:
                raise Disagreement(f"PyTorch made {node.name()}, of which the model knows nothing")
            self._meet(node, written.pop())

    def walk(
        self,
        roots: list[Variable],
        inputs: list[Variable] | None,
        *,
        asks: Callable[[list[torch.Tensor], list[torch.Tensor] | None], tuple[torch.Tensor | None, ...] | None],
        accumulates: bool = True,
        **how: Any,
    ) -> tuple[torch.Tensor | None, ...]:
        """A pass in both worlds; the gradients that PyTorch returns."""
        self._look_at([*roots, *(inputs or ())])
        for each in inputs or ():
            if accumulates and not each.model.is_leaf:
                each.torch.grad = None
        self._entered.clear()
        self._accumulated.clear()
        reason, gradients = _outcome(
            lambda: asks([each.torch for each in roots], None if inputs is None else [each.torch for each in inputs])
        )
        before = len(self.tape.life().events)
        asked = self.tape.walk(
            *(each.model for each in roots),
            inputs=None if inputs is None else tuple(each.model for each in inputs),
            accumulates=accumulates,
            **how,
        )
        walk = play(replace(self.tape.life(), events=self.tape.life().events[: before + 1]), caught=True).walks[-1]
        failure = walk.failure
        failing = self._entered.pop() if reason in {"freed", "edited"} and self._entered else None
        _agree("the error", reason, failure.reason if failure else "none")
        _agree("the failing op", failing, failure.op if failure else None)
        _agree("the ops that ran", tuple(self._entered), walk.executed)
        if accumulates:
            reached = [each.model.history for each in inputs or () if not each.model.is_leaf and _has_gradient(each)]
            _agree("who received a gradient", {*self._accumulated, *reached}, set(walk.received))
        elif reason == "none":
            given = zip(asked.inputs or (), gradients, strict=True)
            _agree("who received a gradient", {port for port, each in given if each is not None}, set(walk.received))
        self.match()
        self._judge_live()
        self._adopt(gradients)
        return gradients

    def _look_at(self, tensors: list[Variable]) -> None:
        """Read histories as a pass does: that can make ops, and they must be watched before the pass runs them."""
        for each in tensors:
            if self.tape.read(each.model) is None:
                break
            _ = each.torch.grad_fn
        self.match()

    def gradient(self, given: torch.Tensor) -> Tensor:
        """A gradient that PyTorch handed out, as the model sees it: perhaps with a graph of its own."""
        self._adopted = True
        tensor = self.tape.data(given.untyped_storage().nbytes())
        if given.grad_fn is not None:
            tensor.history = Port(self._ops[_number(given.grad_fn)].id, given.output_nr)
        return tensor

    def _adopt(self, gradients: tuple[torch.Tensor | None, ...]) -> None:
        """Which ops a gradient's graph has is PyTorch's to say; what becomes of them is the law's."""
        nodes = {_number(node): node for each in gradients if each is not None for node in _walk_nodes(each.grad_fn)}
        for number in sorted(nodes.keys() - self._ops.keys()):
            node = nodes[number]
            if self._recalls(node):
                continue
            op = Op(
                0, node.name(), tuple(self._below(node)), tuple(self._saved(node)), gives_up_more=_reads_saved(node)
            )
            self._meet(node, replace(op, id=self.tape.adopt(op).node))
            self._known += 1

    def judge(self) -> None:
        """Raise if the model says anything else than PyTorch did."""
        outcome = play(self.tape.life(), caught=True)
        self._judge_live()
        self._judge_saved(outcome.left.saving, outcome.left.saved_bytes)
        for variable in self.variables.values():
            if variable.model.is_leaf:
                has = variable.torch.grad is not None
                _agree(
                    "a leaf has a gradient",
                    has,
                    variable.model.history and variable.model.history.node in outcome.gradients,
                )

    def _judge_live(self) -> None:
        met = frozenset(op.id for op in self._ops.values())
        _agree("the ops alive", self._live(), play(self.tape.life(), caught=True).left.live & met)

    def _judge_saved(self, saving: frozenset[int], saved_bytes: int) -> None:
        """Which saved values are there, op by op; and all their bytes, where all can be seen."""
        storages: dict[int, int] = {}
        visible = set()
        for node in self._reachable():
            op = self._ops[_number(node)]
            if op.name == "CopySlices":  # shows nothing of the op inside
                continue
            there = _saved_storages(node)
            if there is None:  # edited since, so PyTorch shows nothing of it
                _agree(
                    f"{op.name} {op.id}: the edited values it saved are",
                    "there",
                    "there" if op.id in saving else "gone",
                )
                continue
            visible.add(op.id)
            expected = {each.storage for each in op.saves} if op.id in saving else set()
            _agree(f"{op.name} {op.id} has its saved values", bool(there), bool(expected))
            if not self._adopted:
                _agree(f"{op.name} {op.id}: storages saved", len(there), len(expected))
            storages |= there
        # A gradient may be one tensor under two names, or share a storage that the model knows under none.
        if visible == self._live() and not self._adopted:
            for leaf in self._leaves:
                storages.pop(leaf.torch.untyped_storage().data_ptr(), None)
            _agree("bytes of saved values", sum(storages.values()), saved_bytes)

    def _written(self) -> list[Op]:
        numbered = list(self.tape.life().numbered())
        fresh, self._known = numbered[self._known :], len(numbered)
        return fresh

    def _recalls(self, node: Node) -> bool:
        """Whether it is an op that the model wrote long ago, and that could not be seen until now.

        Such an op stands in a saved tensor, and comes to light when a gradient is made from that.
        """
        numbers = {op.id: number for number, op in self._ops.items()}
        newest = 0
        hidden: list[Op] = []
        for op in self.tape.life().numbered():
            newest = numbers.get(op.id, newest)
            if newest > _number(node):
                break
            hidden = [*hidden, op] if op.id not in numbers else []
        else:
            return False
        if [op.name for op in hidden] != [node.name()]:
            raise Disagreement(f"PyTorch has {node.name()} where the model has {hidden}")
        self._meet(node, hidden[0])
        return True

    def _unmet(self) -> Iterator[Node]:
        return (node for node in self._reachable() if _number(node) not in self._ops)

    def _meet(self, node: Node, op: Op) -> None:
        """Watch an op: when PyTorch runs it, and when it is gone."""
        self._ops[_number(node)] = op
        token = node.metadata["proof"] = Token()
        self._tokens[_number(node)] = weakref.ref(token)
        entered, number = self._entered, op.id
        node.register_prehook(lambda _: entered.append(number))

    def _live(self) -> frozenset[int]:
        return frozenset(self._ops[number].id for number, token in self._tokens.items() if token() is not None)

    def _reachable(self) -> Iterable[Node]:
        nodes: dict[int, Node] = {}
        for variable in self.variables.values():
            starts = [variable.torch.grad_fn] if not self.tape.is_outdated(variable.model) else []
            if variable.torch._base is not None:  # noqa: SLF001
                starts.append(variable.torch._base.grad_fn)  # noqa: SLF001
            for start in starts:
                nodes |= {_number(node): node for node in _walk_nodes(start)}
        return nodes.values()

    def _below(self, node: Node) -> Iterator[Port | None]:
        for below, output in node.next_functions:
            if below is None:
                yield None
            elif _is_leaf(below):
                yield next(each.model.history for each in self._leaves if each.torch is below.variable)
            else:
                yield Port(self._ops[_number(below)].id, output)

    def _saved(self, node: Node) -> Iterator[Saved]:
        owners = {each.torch.untyped_storage().data_ptr(): each.model for each in self.variables.values()}
        for pointer, nbytes in (_saved_storages(node) or {}).items():
            owner = owners.get(pointer)
            if owner is None:
                owner = self.tape.data(nbytes)
            yield Saved(owner.storage, owner.counter)


def _outcome(
    asks: Callable[[], tuple[torch.Tensor | None, ...] | None],
) -> tuple[str, tuple[torch.Tensor | None, ...]]:
    try:
        return "none", asks() or ()
    except RuntimeError as error:
        for message, reason in MESSAGES.items():
            if message in str(error):
                return reason, ()
        raise


def _has_gradient(variable: Variable) -> bool:
    return variable.torch.retains_grad and variable.torch.grad is not None


def _number(node: Node) -> int:
    return int(node._sequence_nr())  # noqa: SLF001


def _is_leaf(node: Node) -> bool:
    return bool(node.name().endswith("AccumulateGrad"))


def _reads_saved(node: Node) -> bool:
    return hasattr(node, "saved_tensors")


def _walk_nodes(start: Node | None) -> Iterator[Node]:
    seen = set()
    stack = [start]
    while stack:
        node = stack.pop()
        if node is None or _is_leaf(node) or _number(node) in seen:
            continue
        seen.add(_number(node))
        yield node
        stack += [each for each, _ in node.next_functions]


def _saved_storages(node: Node) -> dict[int, int] | None:
    """The storages an op still keeps, with their bytes; empty: it was freed; None: it cannot be known."""
    found = {}
    try:
        values = node.saved_tensors if _reads_saved(node) else _saved_attributes(node)
        for value in values:
            storage = value.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
    except RuntimeError as error:
        return {} if "a second time" in str(error) else None
    return found


def _saved_attributes(node: Node) -> list[torch.Tensor]:
    values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
    return [each for each in values if isinstance(each, torch.Tensor)]


def _agree(what: str, seen: object, predicted: object) -> None:
    if seen != predicted:
        raise Disagreement(f"{what}: PyTorch {seen}, the model {predicted}")
