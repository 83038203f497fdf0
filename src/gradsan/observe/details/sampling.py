"""What is alive when passes begin, and who holds it: sampled pass after pass, within a budget of its own."""

import math
import sys
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from gradsan.facts.details import EARLIER, MOST_SAMPLES, OWN, OpGraph, Sample, Share
from gradsan.observe.details.op_graph import LIVE, RETAINED, conditions, op_graph
from gradsan.observe.graph import Node, about_bytes, reach, roots_of, saves_values
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.ledger.wording import loss_at
from gradsan.observe.modules import module_names, trained
from gradsan.observe.notes import PassNote
from gradsan.observe.private import NO_NUMBER

_HOLDERS = 48  # that are told apart
_OPS, _OPS_COUNTED = 20_000, 100_000  # that are walked for one holder
_LARGER = 1.4  # times as many ops as in the graph that was kept before make one that is worth keeping
_ROOM = "sampling"
_LATE = 8  # passes in vain: those of a library's own lines are not followed


class _OwnBudget(Budget):
    grant = 2.0
    share = 0.05


class Sampling:
    """Of a process: every pass at first, later every second, every fourth …, all along the run, within the budget.

    It has passes handed on that nobody else attends to: what a page shows must not end where the ledger rests.
    """

    # In a trial: of the first passes, so many, whatever it takes. What two runs are compared by must be the same each
    # time that a program runs: a sample that hangs on time, or in which something is left out, spoils them all.
    counted: ClassVar[int] = 0

    def __init__(self, run: Run) -> None:
        self._run = run
        self._budget = _OwnBudget()
        self._holders: dict[str, int] = {OWN: 0, EARLIER: 1}
        self._samples: list[Sample] = []
        self._next, self._every = 0, 1  # which pass of the run; and how many there are to the one after it
        self._before = (0, 0.0)  # which was the latest, and when
        self._modules: list[weakref.ref[Any]] = []  # that were alive when a graph was kept
        self._is_whole = True  # nothing was left out of a sample
        self.graph: OpGraph | None = None  # of all that were seen, about the largest
        run.process.passes.tape.rooms[_ROOM] = self._room

    def pass_begins(self, asked: Asked) -> None:
        """One that is noted in full."""
        order = asked.note.order
        if self.counted:
            self._count(asked)
        elif order >= self._next:
            self._budget.spend(lambda: self._sample(asked))
            self._next = order + max(self._every, self._rest(order))

    def _count(self, asked: Asked) -> None:
        passes, order = self._run.process.passes, asked.note.order
        if order >= self.counted or order < self._next:
            return
        passes.look_at_next(asked.note.site)  # what it frees must not be inferred
        self._next = order + 1 if order + 1 < self.counted else sys.maxsize
        earlier = passes.besides(passes.note(asked.note))
        is_known = len(self._samples) == order and all(each.seen for each in earlier)  # none went by
        if is_known:
            self._samples.append(self._seen(asked, self._held(asked)))
        if not (is_known and self._is_whole):
            self._samples.clear()
            self._next = sys.maxsize

    def close(self) -> None:
        """Ask for no more passes."""
        self._run.process.passes.tape.rooms.pop(_ROOM, None)

    @property
    def holders(self) -> tuple[str, ...]:
        """All that were found to hold something."""
        return tuple(self._holders)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """In order."""
        return tuple(self._samples)

    def _rest(self, order: int) -> int:
        """How many passes have to go by until no more than the share was spent, at the pace of the latest."""
        before, at = self._before
        now = self._budget.gone_by
        self._before = (order, now)
        return math.ceil(max(self._budget.debt, 0.0) / self._budget.share * (order - before) / max(now - at, 1e-6))

    def _room(self) -> int:
        """How many records may go by before the next sample: if there are steps among them, it asks once more."""
        begun = self._run.process.passes.begun
        if begun > self._next + _LATE:
            self._next = begun + self._every
        return max(self._next - begun, 0)

    def _sample(self, asked: Asked) -> None:
        process = self._run.process
        note, roots = process.passes.note(asked.note), roots_of(asked.tensors)
        held = self._held(asked)
        sample = self._seen(asked, held)
        self._samples.append(sample)
        if len(self._samples) > MOST_SAMPLES:
            del self._samples[1::2]
            self._every *= 2
        size = sum(each.ops for each in sample.shares)
        if self.graph is None or size > _LARGER * (len(self.graph.kind) + self.graph.left_out):
            line = note.stack[-1:] and loss_at(note.stack[-1], is_direct=asked.line.is_direct)
            self.graph = op_graph({line or "loss": roots, **held}, note, process, modules=self._alive)

    def _seen(self, asked: Asked, held: dict[str, list[Node]]) -> Sample:
        note = self._run.process.passes.note(asked.note)
        shared = self._shares(roots_of(asked.tensors), held, asked.note.since, note)
        return Sample(note.index, self._run.process.steps.count, shared)

    def _alive(self, leaves: Sequence[Any]) -> list[Any]:
        """The modules that own these leaves. To search all objects is costly: it is done if one has no owner yet."""
        known = [module for each in self._modules if (module := each()) is not None]
        if not {id(each) for each in leaves} <= module_names(known).keys():
            known = list(trained().modules)
            self._modules = [weakref.ref(each) for each in known]
        return known

    def _held(self, asked: Asked) -> dict[str, list[Node]]:
        """The ops that names of the program lead to."""
        search = self._run.held(asked.frame)
        self._is_whole &= search.is_whole
        found: dict[str, list[Node]] = {}
        for (name, _), tensors in search.groups.items():
            found.setdefault(name, []).extend(search.nodes[each] for each in {tensor.number for tensor in tensors})
        return found

    def _shares(
        self, roots: Sequence[Node], held: dict[str, list[Node]], since: int, note: PassNote
    ) -> tuple[Share, ...]:
        """Each op for one: for the pass itself, else for the holder that leads to most."""
        own = self._below(roots)
        owner = {node: int(_number(node) < since) for node in own}
        reached = sorted(((name, self._below(nodes)) for name, nodes in held.items()), key=lambda each: -len(each[1]))
        for name, nodes in reached:
            left = [node for node in nodes if node not in owner]
            if left and (name in self._holders or len(self._holders) < _HOLDERS):
                owner.update(dict.fromkeys(left, self._holders.setdefault(name, len(self._holders))))
        kept = _kept_bytes(owner, note, self._run)
        sums: dict[int, tuple[int, int]] = {}
        for node, holder in owner.items():
            ops, saved = sums.get(holder, (0, 0))
            sums[holder] = ops + 1, saved + kept.get(node, 0)
        return tuple(Share(holder, *sums[holder]) for holder in sorted(sums))

    def _below(self, roots: Iterable[Node]) -> list[Node]:
        most = _OPS_COUNTED if self.counted else _OPS
        nodes = reach(roots, most)
        self._is_whole &= len(nodes) < most
        return [node for node in nodes if _number(node) != NO_NUMBER]


def _kept_bytes(nodes: Iterable[Node], note: PassNote, run: Run) -> dict[Node, int]:
    """About what each has saved, of those that are known to have it still."""
    ordered = sorted(nodes, key=_number)
    state = conditions([_number(node) for node in ordered], note, run.process)
    pairs = zip(ordered, state, strict=True)
    return {node: about_bytes(node) for node, each in pairs if each in (LIVE, RETAINED) and saves_values(node)}


def _number(node: Node) -> int:
    return int(node._sequence_nr())  # noqa: SLF001 # as in graph.py
