"""What saved values weigh that are alive at once, estimated where the program is looked through anyway."""

from collections.abc import Iterable, Sequence

from gradsan.observe.details.sampling import Sampling
from gradsan.observe.graph import Node, about_bytes, reach, saves_values
from gradsan.observe.graph_snapshot import Snapshot
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.notes import PassNote

_WEIGHED = 3  # the pass of a line at which all that is alive is weighed
_OPS = 20_000  # that are walked


class Weighing:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.sampling = Sampling(run) if run.process.is_detailed else None

    def pass_begins(self, asked: Asked) -> None:
        """Add up what is alive when a line's third pass begins; for a page, when any does."""
        if self.sampling is not None:
            self.sampling.pass_begins(asked)
        if asked.line.passes == _WEIGHED and asked.note.seen:
            self._run.budget.spend(lambda: self._weigh(asked))

    def close(self) -> None:
        """Nothing is to be weighed any more."""
        if self.sampling is not None:
            self.sampling.close()

    def _weigh(self, asked: Asked) -> None:
        lines, passes = self._run.lines, self._run.process.passes
        roots = self._run.held(asked.frame).nodes.values()
        earlier = passes.besides(passes.note(asked.note))
        retained = [snapshot for each in lines.lines.values() for snapshot in each.kept]
        lines.peak = max(lines.peak, live_bytes(roots, asked.note.since, earlier, retained))


def live_bytes(roots: Iterable[Node], since: int, passes: Sequence[PassNote], retained: Sequence[Snapshot]) -> int:
    """About what the ops below these roots have saved and not freed.

    Of what was created before op `since`, that counts which passes are known to have `retained`; of what is newer, all
    that none has freed.
    """
    freeing = [each for each in passes if not each.retains and each.begin >= since]
    total = 0
    for node in filter(saves_values, reach(roots, _OPS)):
        number = node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
        is_old = number < since
        if any(each.walks(number) for each in (retained if is_old else freeing)) == is_old:
            total += about_bytes(node)
    return total
