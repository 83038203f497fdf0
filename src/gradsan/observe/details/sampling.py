"""What is alive when passes begin, and who holds it: sampled pass after pass, within a budget of its own."""

from collections.abc import Iterable, Sequence

from gradsan.facts.details import EARLIER, MOST_SAMPLES, OWN, OpGraph, Sample, Share
from gradsan.observe.details.op_graph import LIVE, RETAINED, conditions, op_graph
from gradsan.observe.graph import Node, about_bytes, reach, roots_of, saves_values
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.ledger.wording import loss_at
from gradsan.observe.notes import PassNote
from gradsan.observe.private import NO_NUMBER

_HOLDERS = 48  # that are told apart
_OPS = 20_000  # that are walked for one holder
_LARGER = 1.25  # times as many ops as in the graph that was kept before make one that is worth keeping


class _OwnBudget(Budget):
    grant = 1.0
    share = 0.05


class Sampling:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._budget = _OwnBudget()
        self._holders: dict[str, int] = {OWN: 0, EARLIER: 1}
        self._samples: list[Sample] = []
        self._attended, self._every = 0, 1
        self.graph: OpGraph | None = None  # of all that were seen, about the largest

    def pass_begins(self, asked: Asked) -> None:
        """One that is attended to."""
        self._attended += 1
        if self._attended % self._every == 0:
            self._budget.spend(lambda: self._sample(asked))

    @property
    def holders(self) -> tuple[str, ...]:
        """All that were found to hold something."""
        return tuple(self._holders)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """In order."""
        return tuple(self._samples)

    def _sample(self, asked: Asked) -> None:
        process = self._run.process
        note, roots = process.passes.note(asked.note), roots_of(asked.tensors)
        held = self._held(asked)
        shared = self._shares(roots, held, asked.note.since, note)
        self._samples.append(Sample(note.index, process.steps.count, shared))
        if len(self._samples) > MOST_SAMPLES:
            del self._samples[1::2]
            self._every *= 2
        size = sum(each.ops for each in shared)
        if self.graph is None or size > _LARGER * (len(self.graph.kind) + self.graph.left_out):
            line = note.stack[-1:] and loss_at(note.stack[-1], is_direct=asked.line.is_direct)
            self.graph = op_graph({line or "loss": roots, **held}, note, process)

    def _held(self, asked: Asked) -> dict[str, list[Node]]:
        """The ops that names of the program lead to."""
        search = self._run.held(asked.frame)
        found: dict[str, list[Node]] = {}
        for (name, _), tensors in search.groups.items():
            found.setdefault(name, []).extend(search.nodes[each] for each in {tensor.number for tensor in tensors})
        return found

    def _shares(
        self, roots: Sequence[Node], held: dict[str, list[Node]], since: int, note: PassNote
    ) -> tuple[Share, ...]:
        """Each op for one: for the pass itself, else for the holder that leads to most."""
        own = _below(roots)
        owner = {node: int(_number(node) < since) for node in own}
        reached = sorted(((name, _below(nodes)) for name, nodes in held.items()), key=lambda each: -len(each[1]))
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


def _below(roots: Iterable[Node]) -> list[Node]:
    return [node for node in reach(roots, _OPS) if _number(node) != NO_NUMBER]


def _kept_bytes(nodes: Iterable[Node], note: PassNote, run: Run) -> dict[Node, int]:
    """About what each has saved, of those that are known to have it still."""
    ordered = sorted(nodes, key=_number)
    state = conditions([_number(node) for node in ordered], note, run.process)
    pairs = zip(ordered, state, strict=True)
    return {node: about_bytes(node) for node, each in pairs if each in (LIVE, RETAINED) and saves_values(node)}


def _number(node: Node) -> int:
    return int(node._sequence_nr())  # noqa: SLF001 # as in graph.py
