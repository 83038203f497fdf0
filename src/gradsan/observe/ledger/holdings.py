"""Follows what names hold from scan to scan: which go on collecting, and which keep one graph for good."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import cast

from gradsan.facts.course import Count, HolderKind, Holding
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.container_writes import Feed, feed_of
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.holder_scan import LatestPass, Sighting, Timeline, sightings
from gradsan.observe.ledger.passlines import Asked, Line
from gradsan.observe.ledger.trimming import is_trimmed
from gradsan.observe.notes import FIRST, Site

# When live holders are searched: after so many passes; then later and later, but sooner if something is held, and
# never so late that what begins in the middle of a run goes unseen.
_FIRST_SCAN = 3
_LATER, _SOONER, _LATEST = 3.0, 1.25, 512
_NAMES = 64  # holders that are followed
_FIRST_COUNTS, _COUNTS = (
    8,
    32,
)  # of one holder, that are kept: the first ones, when scans are near each other, and the last


@dataclass(slots=True)
class _Followed:
    sighting: Sighting
    feed: Feed | None
    created: Stack
    seen_at: int  # so many passes had begun
    counts: list[Count] = field(default_factory=list)

    @property
    def collects(self) -> bool:
        """Whether what feeds it adds to what is there."""
        return self.feed is not None and self.feed.collects


class Holdings:
    """Of a process."""

    def __init__(self, run: Run, gradients: Gradients) -> None:
        self._run = run
        self._gradients = gradients
        self._followed: dict[tuple[str, str], _Followed] = {}
        self._next_scan = _FIRST_SCAN
        self._awaited: set[Site] = set()  # lines whose next pass is walked for the search

    def pass_begins(self, asked: Asked) -> None:
        """Search the live holders, if that is due.

        What the present pass walks must be known. Where it was walked because there was time for it, it is not
        taken: at which pass of a run is searched, and so how much is found, must not hang on the speed of a machine.
        """
        note, passes = asked.note, self._run.process.passes
        if passes.count < self._next_scan:
            return
        is_awaited = note.site in self._awaited or note.step <= FIRST
        if passes.count > self._next_scan and note.seen is not None and is_awaited:
            self._awaited.clear()
            self._run.budget.spend(lambda: self._scan(asked.frame, LatestPass(passes.note(note).walks)))
        else:
            passes.look_at_next(note.site)
            self._awaited.add(note.site)

    def close(self) -> None:
        """The last time, when all is over and nobody waits for it."""
        for last in self._run.process.passes.all()[-1:]:
            with self._run.budget:
                self._scan(None, LatestPass(last.walks, last.begin))

    def _scan(self, frame: FrameType | None, latest: LatestPass) -> None:
        accounts, steps, count = self._gradients.accounts, self._run.process.steps, self._run.process.passes.count
        lines = list(self._run.lines.lines.values())
        passing = [each for each in lines if each.kind == "backward"]
        if not passing and not accounts:  # the program takes its gradients itself, and changes parameters by hand
            passing = lines
        timeline = Timeline(
            owned=[(each.owned, steps.numbers_of(key)) for key, each in accounts.items()],
            reached=[(each.reached, each.site.begins) for each in passing],
        )
        self._forget_used(latest, count)
        seen = sightings(self._run.held(frame), timeline, latest)
        files = list(self._run.files) if seen else []
        for sighting in seen:
            created = self._run.process.stack_of(sighting.newest)
            feed = feed_of(sighting.name, sighting.function, created[-1] if created else None, files)
            self._note(sighting, feed, created)
        self._next_scan = min(int(count * (_SOONER if seen else _LATER)), count + _LATEST) + 1

    def _forget_used(self, latest: LatestPass, count: int) -> None:
        """What was held for a later pass was not held for nothing: the one that ends an unrolled loop walks it all."""
        for key, each in list(self._followed.items()):
            if each.seen_at < count and each.sighting.is_used_by(latest):
                del self._followed[key]

    def facts(self) -> tuple[Holding, ...]:
        """As plain facts.

        Passes stand for steps only in a program that has no optimizer at all. Several names for the same graphs are one
        explanation: that of the name which collects them.
        """
        has_optimizers, files = bool(self._gradients.accounts), self._run.files if self._followed else set()
        counted = [each for each in self._followed.values() if each.sighting.by_optimizer or not has_optimizers]
        ranked = sorted(
            counted, key=lambda each: (not each.collects, -len(each.sighting.steps), len(each.sighting.name))
        )
        chosen: list[tuple[Sighting, Holding]] = []
        for each in ranked:
            fact, reach = _fact(each, files), each.sighting.reach.keys()
            is_other = all(reach.isdisjoint(other.reach) for other, _ in chosen)
            is_same_line = any(fact.fed and fact.fed == other.fed for _, other in chosen)  # of another object's list
            if is_other and not is_same_line and (fact.is_growing or fact.is_for_good):
                chosen.append((each.sighting, fact))
        retaining = [each for each in self._run.lines.lines.values() if each.kept]
        return tuple(replace(fact, retained_by=_retained_by(sighting.reach, retaining)) for sighting, fact in chosen)

    def _note(self, sighting: Sighting, feed: Feed | None, created: Stack) -> None:
        count = self._run.process.passes.count
        key = (sighting.name, sighting.function)
        known = self._followed.get(key)
        if known is None and len(self._followed) >= _NAMES:
            return
        if known is None or (sighting.by_optimizer and not known.sighting.by_optimizer):
            known = self._followed[key] = _Followed(sighting, feed, created, count)
        if len(sighting.steps) >= len(known.sighting.steps):
            known.sighting, known.seen_at = sighting, count
            known.feed, known.created = feed or known.feed, created or known.created
        known.counts.append(Count(sighting.step, len(sighting.steps), sighting.steps[0]))
        del known.counts[_FIRST_COUNTS : len(known.counts) - _COUNTS]


def _retained_by(reach: Iterable[int], retaining: Iterable[Line]) -> tuple[Stack, ...]:
    """The lines whose passes kept graphs that lead there."""
    return tuple(line.stack for line in retaining if any(any(map(snapshot.walks, reach)) for snapshot in line.kept))


def _fact(followed: _Followed, files: Collection[str]) -> Holding:
    sighting, feed = followed.sighting, followed.feed
    name = sighting.name if feed is None else feed.name
    return Holding(
        name=name,
        holder=_holder(sighting, name),
        fed=() if feed is None else (feed.place,),
        made=followed.created,
        counts=tuple(followed.counts),
        ops=sighting.ops,
        saved_bytes=sighting.saved_bytes,
        is_bounded=sighting.is_bounded,
        collects=followed.collects,
        is_trimmed=any(is_trimmed(each, files) for each in {name, sighting.name}),
        is_guarded=feed is not None and feed.is_guarded,
        of_numbers=sighting.of_numbers,
    )


def _holder(sighting: Sighting, name: str) -> HolderKind:
    if name.endswith("]"):
        return "item"
    if "." in name:
        return "attribute"
    return cast("HolderKind", sighting.holder)
