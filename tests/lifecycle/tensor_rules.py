"""How tensors write a graph: history, views, detaching and in-place edits, as PyTorch's tensors do it.

A tape writes a `Life` by hand: `h = tape.apply("TanhBackward0", w, saves_result=True)`.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gradsan.facts.location import Location
from gradsan.lifecycle.events import Cleared, Created, Edited, Event, Held, Life, Pass, Stepped, Walked
from gradsan.lifecycle.ops import Leaf, Op, Port, Saved
from gradsan.lifecycle.simulator import play


@dataclass(eq=False)
class Tensor:
    """A tensor as autograd sees it. Make one with a `Tape`; never share one between tapes."""

    storage: int
    counter: int  # of edits in place; a view and a detached alias share it
    history: Port | None = None  # None: it has none. A view's may be outdated: read it with `Tape.read`
    is_leaf: bool = False
    base: "Tensor | None" = None  # of a view
    seen: int = 0  # the version for which a view's history is right


@dataclass(frozen=True, slots=True)
class Save:
    """Something an op saves: one of its inputs, for all gradients or only for that of one input."""

    tensor: Tensor
    needed_for: int | None = None


@dataclass(frozen=True, slots=True)
class _Grip:
    """What a holder has: tensors, whose history may change in its hand, and ops."""

    tensors: tuple[Tensor, ...]
    others: tuple[int, ...] = ()

    @property
    def ops(self) -> tuple[int, ...]:
        return self.others + tuple(node for each in self.tensors for node in _keeps(each))


@dataclass
class Tape:
    """Writes down a life while tensors are used."""

    recording: bool = True  # False: under `no_grad`
    _events: list[Event] = field(default_factory=list)
    _leaves: list[Leaf] = field(default_factory=list)
    _storages: dict[int, int] = field(default_factory=dict)
    _versions: dict[int, int] = field(default_factory=dict)
    _holders: dict[str | int, "_Grip"] = field(default_factory=dict)
    _told: dict[str | int, tuple[int, ...]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def life(self) -> Life:
        """What was written so far."""
        return Life(tuple(self._leaves), dict(self._storages), tuple(self._events))

    def leaf(self, name: str, nbytes: int = 0, *, of: Tensor | None = None) -> Tensor:
        """A parameter, or any tensor made with `requires_grad=True`; `of`: `tensor.detach().requires_grad_()`."""
        tensor = self.data(nbytes) if of is None else self.detach(of)
        number = next(self._numbers)
        tensor.history, tensor.is_leaf = Port(number), True
        self._leaves.append(Leaf(number, name, tensor.storage, tensor.counter))
        return tensor

    def data(self, nbytes: int = 0) -> Tensor:
        """A tensor without history."""
        number = next(self._numbers)
        self._storages[number] = nbytes
        self._versions[number] = 0
        return Tensor(storage=number, counter=number)

    @contextmanager
    def no_grad(self) -> Iterator[None]:
        """Nothing is recorded inside."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def apply(
        self,
        name: str,
        *inputs: Tensor,
        saves: tuple[Save, ...] = (),
        saves_result: bool = False,
        nbytes: int = 0,
        gives_up_more: bool = False,
        looks_first: bool = False,
        made: Location | None = None,
    ) -> Tensor:
        """The output of an op. A value saved for one input's gradient is not saved where that input needs none.

        A custom Function `looks_first` at its inputs and is numbered then; PyTorch's own ops do it the other way round.
        """
        output = self.data(nbytes)
        if self._records(inputs):
            ports = tuple(self.read(each, late=not looks_first) for each in inputs)
            kept = _needed(saves, ports)
            results = (Saved(output.storage, output.counter),) if saves_result else ()
            op = Op(0, name, ports, results, gives_up_more, result=output.storage, made=made)
            output.history = self._make(op, kept)
        return output

    def view(self, name: str, of: Tensor, *, outputs: int = 1, made: Location | None = None) -> tuple[Tensor, ...]:
        """Views: they share the storage and follow what happens to their base. One op may make several."""
        history = None
        if self._records((of,)):
            port = self.read(of, late=True)
            history = self._make(Op(0, name, (port,), outputs=outputs, result=of.storage, made=made))
        view = Tensor(of.storage, of.counter, base=of.base or of, seen=self._versions[of.counter])
        return tuple(replace(view, history=history and Port(history.node, output)) for output in range(outputs))

    def detach(self, of: Tensor) -> Tensor:
        """The same values without history; edits are counted together."""
        return Tensor(of.storage, of.counter)

    def bare(self, of: Tensor) -> Tensor:
        """`tensor.data`: as detach, but edits are counted apart, so autograd does not notice them."""
        counter = next(self._numbers)
        self._versions[counter] = 0
        return Tensor(of.storage, counter)

    def edit(
        self,
        name: str,
        target: Tensor,
        *others: Tensor,
        saves: tuple[Save, ...] = (),
        saves_result: bool = False,
        saves_overwritten_for: int | None = None,
        made: Location | None = None,
    ) -> None:
        """An op in place: `target` gets a new history, and whoever saved its old value will raise.

        Where the gradient of one of its inputs needs the value that is overwritten, a copy of that is saved.
        """
        records = self._records((target, *others))
        if records:
            # A write through a view is an op of the base's: CopySlices, made around the op that was asked for.
            base = target.base
            ports = tuple(self.read(each, late=base is None) for each in (target, *others))
            kept = _needed(saves, ports)
            if saves_overwritten_for is not None and ports[saves_overwritten_for] is not None:
                kept += (Save(self._copy(target, late=base is None), saves_overwritten_for),)
            results = (Saved(target.storage, target.counter, written=True),) if saves_result else ()
            op = Op(0, name, ports, results, result=target.storage, made=made)
            if base is None:
                target.history = self._make(op, kept)
            else:
                inputs = (base.history, *ports[1:])
                # The op inside still leads to the view's own history.
                keeps = tuple(each.node for each in ports[:1] if each is not None)
                around = replace(op, name="CopySlices", inputs=inputs, gives_up_more=True, keeps=keeps)
                base.history = self._make(around, kept)
        self._versions[target.counter] += 1
        self._events.append(Edited(target.counter, made))
        if records:
            # PyTorch brings the view's own history up to date at once.
            self.read(target)
            self._report_holders()

    def read(self, tensor: Tensor, *, late: bool = False) -> Port | None:
        """The tensor's history, its `grad_fn`. A view whose storage was edited gets a new op when it is read."""
        if tensor.base is not None and self.is_outdated(tensor):
            op = Op(0, "AsStridedBackward0", (tensor.base.history,), result=tensor.storage)
            tensor.history = self._make(op, late=late)
            tensor.seen = self._versions[tensor.counter]
            self._report_holders()
        return tensor.history

    def is_outdated(self, tensor: Tensor) -> bool:
        """Whether reading the tensor's history would rebuild it: a view, edited since, itself or through another."""
        return (
            tensor.base is not None
            and tensor.seen != self._versions[tensor.counter]
            and (tensor.history is not None or tensor.base.history is not None)
        )

    def adopt(self, op: Op) -> Port:
        """Write down an op that was created by other hands: by a pass with `create_graph=True`."""
        return self._make(op)

    def walk(
        self,
        *roots: Tensor,
        inputs: tuple[Tensor, ...] | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        accumulates: bool = True,
        allows_unused: bool = True,
        site: Location | None = None,
    ) -> Pass:
        """A call of `backward`, or with `accumulates=False` of `autograd.grad`."""
        ports: list[Port | None] = []
        for each in (*roots, *(inputs or ())):
            # PyTorch looks no further than the first tensor without history: there it raises.
            ports.append(None if ports and ports[-1] is None else self.read(each))
        wanted = None if inputs is None else tuple(ports[len(roots) :])
        asked = Pass(
            id=next(self._numbers),
            roots=tuple(ports[: len(roots)]),
            inputs=wanted,
            retain_graph=retain_graph,
            create_graph=create_graph,
            accumulates=accumulates,
            allows_unused=allows_unused,
            site=site,
        )
        self._events.append(Walked(asked))
        self._look_at_edited()
        return asked

    def step(self, optimizer: str, *leaves: Tensor, site: Location | None = None) -> None:
        """`optimizer.step()`."""
        # It edits the leaves that have a gradient; which ones have, only the law knows.
        updated = play(self.life(), caught=True).gradients
        numbers = tuple(map(_number, leaves))
        for leaf, number in zip(leaves, numbers, strict=True):
            self._versions[leaf.counter] += number in updated
        self._events.append(Stepped(optimizer, numbers, site))

    def clear(self, *leaves: Tensor, to_none: bool = True, site: Location | None = None) -> None:
        """`zero_grad()`."""
        self._events.append(Cleared(tuple(map(_number, leaves)), to_none, site))

    def hold(self, name: str, tensor: Tensor) -> None:
        """A name is bound to the tensor, and let go of what it held before."""
        self._holders[name] = _Grip((tensor,))
        self._report(name, self._holders[name].ops)

    def let_go(self, name: str) -> None:
        """A name is deleted."""
        del self._holders[name]
        self._report(name, ())

    def _look_at_edited(self) -> None:
        """PyTorch names the edited tensor in its error, and to do so reads its history; a view's is rebuilt by that."""
        failure = play(self.life(), caught=True).walks[-1].failure
        if failure and failure.reason == "edited" and failure.op is not None:
            for tensor in self._holders[failure.op].tensors:
                if self.is_outdated(tensor):
                    self.read(tensor)
                    return

    def _copy(self, tensor: Tensor, *, late: bool) -> Tensor:
        copy = self.data(self._storages[tensor.storage])
        if tensor.history is not None:
            op = Op(0, "CloneBackward0", (tensor.history,), result=copy.storage)
            copy.history = self._make(op, late=late)
        return copy

    def _records(self, inputs: tuple[Tensor, ...]) -> bool:
        return self.recording and any(each.history or self.is_outdated(each) for each in inputs)

    def _make(self, op: Op, saves: tuple[Save, ...] = (), *, late: bool = False) -> Port:
        number = next(self._numbers)
        saved = tuple(Saved(each.tensor.storage, each.tensor.counter, each.needed_for) for each in saves)
        grip = _Grip(tuple(each.tensor for each in saves), op.keeps)
        self._events.append(Created(replace(op, id=number, saves=saved + op.saves, keeps=grip.ops), late=late))
        self._holders[number], self._told[number] = grip, grip.ops
        return Port(number)

    def _report_holders(self) -> None:
        """Tensors have got another history: what holds them now keeps other ops alive."""
        for holder, grip in self._holders.items():
            if self._told[holder] != grip.ops:
                self._report(holder, grip.ops)

    def _report(self, holder: str | int, ops: tuple[int, ...]) -> None:
        self._told[holder] = ops
        self._events.append(Held(holder, ops))


def _needed(saves: tuple[Save, ...], inputs: tuple[Port | None, ...]) -> tuple[Save, ...]:
    return tuple(each for each in saves if each.needed_for is None or inputs[each.needed_for] is not None)


def _keeps(tensor: Tensor) -> tuple[int, ...]:
    """The ops a tensor keeps alive: a view holds its base."""
    own = () if tensor.history is None or tensor.is_leaf else (tensor.history.node,)
    return own if tensor.base is None else own + _keeps(tensor.base)


def _number(leaf: Tensor) -> int:
    if leaf.history is None or not leaf.is_leaf:
        raise ValueError("only a leaf collects gradients")
    return leaf.history.node
