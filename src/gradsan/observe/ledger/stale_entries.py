"""Where a pass enters what is old in its graph, and what is said of each such place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gradsan.facts.course import Stale
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.graph_snapshot import Snapshot
from gradsan.observe.ledger.carrying import carried_over
from gradsan.observe.ledger.old_ops import Entry, OldOps, old_ops
from gradsan.observe.ledger.passlines import Asked
from gradsan.observe.log.iterations import BEFORE, Repeats
from gradsan.observe.log.lines import Lines
from gradsan.observe.process import Process
from gradsan.observe.surroundings import surrounded_by

_ENTRIES = 3  # into what is old, of one pass, each created by another line
_OPS = 4_000  # whose lines are looked up
_MAKERS = 60  # lines that are named


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """One place, for all that the same calls created."""

    stack: Stack  # the calls that created what is old there
    is_carried_on: bool  # they have created something else since
    old: OldOps
    entry: Entry
    asked: Asked

    @property
    def number(self) -> int:
        """The creation number of what is old."""
        return self.old.graph.number[self.entry.old]

    @property
    def changed(self) -> frozenset[int]:
        """The ids of the leaves below it that were changed."""
        return self.old.changed

    def fact(self, process: Process) -> Stale:
        """What does not change from pass to pass."""
        old, entry, asked = self.old, self.entry, self.asked
        enters = None if entry.new is None else old.graph.number[entry.new]
        carried = carried_over(self.number, enters, asked.frame, process)
        return Stale(
            carried=surrounded_by(carried, asked.note.caller.stack),
            creators=tuple(islice(_creators(old.numbers_below(entry.old), process.lines), _MAKERS)),
            is_asked_for=enters is None,
            created_in_loop=_is_created_in_loop(self.number, asked, process.lines),
            trained_again=old.is_trained_again(entry),
            is_operand=old.is_operand(entry),
        )


def stale_entries(
    asked: Asked, again: Sequence[Snapshot], process: Process, *, on_the_processor_only: bool
) -> list[StaleEntry]:
    """The first ones, given what was seen of earlier passes that walked some of the same ops.

    A device has threads of its own, which number the ops of the gradients: where there are such ops, what it computed
    does not count.
    """
    snapshot = asked.note.seen
    if snapshot is None:
        return []
    graph = Graph(asked.tensors, {})
    found = (old_ops(graph, snapshot, each) for each in again)
    old = next((each for each in found if each is not None), None)
    if old is None or (on_the_processor_only and not old.is_on_the_processor):
        return []
    lines = process.lines
    creators = {lines.stack_of(number) for number in islice(old.created_since(), _OPS)}
    by_calls: dict[Stack, Entry] = {}
    for entry in old.entries():
        by_calls.setdefault(lines.stack_of(graph.number[entry.old]) or (), entry)
    by_calls.pop((), None)
    return [StaleEntry(stack, stack in creators, old, each, asked) for stack, each in by_calls.items()][:_ENTRIES]


def _creators(numbers: Sequence[int], lines: Lines) -> Iterator[Frame]:
    """The lines of the user's, in any call, that took part in creating these ops."""
    found = (frame for number in numbers[:_OPS] for frame in lines.stack_of(number) or ())
    return iter(dict.fromkeys(found))


def _is_created_in_loop(number: int, asked: Asked, lines: Lines) -> bool:
    """Whether an earlier iteration of a loop that is running created it."""
    loops = (each for each in lines.iterations(asked.frame) if each.kind is Repeats.LOOP)
    return any(BEFORE < (each.iteration_of(number) or BEFORE) < each.now for each in loops)
