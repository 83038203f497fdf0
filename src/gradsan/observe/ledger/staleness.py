"""Values that were computed from parameters which have been trained since, and that passes walk again and again.

That all ops of a pass are new is known from their creation numbers alone. Where it walks ops that an earlier pass of
the same calls has walked, versions show which leaves were changed in between, and only then is its graph searched.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradsan.facts.course import Stale
from gradsan.facts.incident import Stack
from gradsan.observe.callers import Calls
from gradsan.observe.graph_snapshot import Snapshot
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.passlines import Asked, LineKey, key_of, meet
from gradsan.observe.ledger.stale_entries import StaleEntry, stale_entries
from gradsan.observe.notes import Begun

_REMEMBERED = 6  # snapshots of passes of one line


@dataclass(frozen=True, slots=True)
class _Seen:
    calls: Calls
    thread: int
    snapshot: Snapshot

    def is_like(self, note: Begun) -> bool:
        """Whether another pass was asked for by the same calls, in a later iteration."""
        return self.thread == note.thread and self.calls == note.caller.calls


class Staleness:
    """Of a process."""

    def __init__(self, run: Run, gradients: Gradients) -> None:
        self._run = run
        self._gradients = gradients
        self._creates = False  # whether some pass has created a graph of gradients
        self._seen: dict[LineKey, deque[_Seen]] = {}
        self._found: dict[LineKey, dict[Stack, Stale]] = {}  # by the calls that created what is old
        self._pending: tuple[Begun, dict[Stack, Stale]] | None = None  # of the pass that runs

    def pass_begins(self, asked: Asked) -> None:
        """A pass is about to run; it is compared with earlier ones if its graph was seen."""
        note, snapshot, calls = asked.note, asked.note.seen, asked.note.caller.calls
        if snapshot is None:
            return
        known = self._seen.setdefault(key_of(calls), deque(maxlen=_REMEMBERED))
        again = [each.snapshot for each in known if each.is_like(note) and meet(snapshot.walked, each.snapshot.walked)]
        known.append(_Seen(calls, note.thread, snapshot))
        self._creates = self._creates or note.creates
        self._pending = None
        # Each thread counts its ops by itself: where several run, two ops may have the same number.
        if again and len(self._run.process.recorder.pen.journals) <= 1:
            found = self._run.budget.spend(lambda: self._stale(asked, again[::-1]))
            self._pending = None if found is None else (note, found)

    def pass_ended(self, note: Begun) -> None:
        """It has run, and has not raised: an error would be the whole explanation."""
        if self._pending is not None and self._pending[0] is note:
            self._found.setdefault(key_of(note.caller.calls), {}).update(self._pending[1])

    def facts(self, key: LineKey) -> tuple[Stale, ...]:
        """What the passes of a line walk that is old."""
        return tuple(self._found.get(key, {}).values())

    def _stale(self, asked: Asked, again: Sequence[Snapshot]) -> dict[Stack, Stale]:
        process = self._run.process
        entries = stale_entries(asked, again, process, on_the_processor_only=self._creates)
        known = self._found.get(key_of(asked.note.caller.calls), {})
        return {
            each.stack: self._seen_again(known.get(each.stack) or each.fact(process), each, asked) for each in entries
        }

    def _seen_again(self, known: Stale, entry: StaleEntry, asked: Asked) -> Stale:
        """With what the present pass shows."""
        steps, accounts = self._run.process.steps, self._gradients.accounts
        by_hand = replace(
            known,
            changed=(),
            updates=0,
            is_carried_on=known.is_carried_on and entry.is_carried_on,
            step=asked.note.step,
            passes=known.passes + 1,
        )
        owner = next((key for key, each in accounts.items() if each.owned & entry.changed), None)
        if owner is None:
            return by_hand
        last = steps.last_of(owner)
        updates = sum(each > entry.number for each in steps.numbers_of(owner))
        return replace(by_hand, changed=() if last is None else last.stack, updates=updates)
