"""Follows what names hold from look to look: which go on collecting, and which keep one graph for good."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from gradsan.facts.course import Count, HolderKind, Holding
from gradsan.facts.incident import Stack
from gradsan.observe.graph_snapshot import Look
from gradsan.observe.ledger.container_writes import Feed, feed_of
from gradsan.observe.ledger.holder_scan import Sighting
from gradsan.observe.ledger.trimming import is_trimmed
from gradsan.observe.log.lines import Lines

_NAMES = 64  # holders that are followed
_LOOKS = 32  # counts of one holder that are kept


@dataclass(slots=True)
class _Followed:
    sighting: Sighting
    feed: Feed | None
    made: Stack
    counts: list[Count] = field(default_factory=list)

    @property
    def collects(self) -> bool:
        """Whether what feeds it adds to what is there."""
        return self.feed is not None and self.feed.collects


class Holdings:
    """Of a process."""

    def __init__(self) -> None:
        self._followed: dict[tuple[str, str], _Followed] = {}

    def add(self, seen: list[Sighting], lines: Lines | None, files: Iterable[str]) -> None:
        """What one look has found."""
        files = list(files)
        for sighting in seen:
            made: Stack = () if lines is None else lines.stack_of(sighting.newest) or ()
            feed = feed_of(sighting.name, sighting.function, made[-1] if made else None, files)
            self._note(sighting, feed, made)

    def facts(
        self,
        *,
        has_optimizers: bool,
        retaining: Sequence[tuple[Stack, Iterable[Look]]] = (),
        files: Collection[str] = (),
    ) -> tuple[Holding, ...]:
        """As plain facts; `retaining`: lines whose passes kept their graphs, with what was seen of those.

        Passes stand for steps only in a program that has no optimizer at all. Several names for the same graphs are one
        explanation: that of the name which collects them.
        """
        counted = [each for each in self._followed.values() if each.sighting.by_optimizer or not has_optimizers]
        told = sorted(counted, key=lambda each: (not each.collects, -len(each.sighting.steps), len(each.sighting.name)))
        chosen: list[tuple[Sighting, Holding]] = []
        for each in told:
            fact, reach = _fact(each, files), each.sighting.reach
            is_other = all(reach.isdisjoint(other.reach) for other, _ in chosen)
            is_same_line = any(fact.fed and fact.fed == other.fed for _, other in chosen)  # of another object's list
            if is_other and not is_same_line and (fact.is_growing or fact.is_for_good):
                chosen.append((each.sighting, fact))
        return tuple(replace(fact, retained_by=_retained_by(sighting.reach, retaining)) for sighting, fact in chosen)

    def _note(self, sighting: Sighting, feed: Feed | None, made: Stack) -> None:
        key = (sighting.name, sighting.function)
        known = self._followed.get(key)
        if known is None and len(self._followed) >= _NAMES:
            return
        if known is None or (sighting.by_optimizer and not known.sighting.by_optimizer):
            known = self._followed[key] = _Followed(sighting, feed, made)
        if len(sighting.steps) >= len(known.sighting.steps):
            known.sighting, known.feed, known.made = sighting, feed or known.feed, made or known.made
        known.counts.append(Count(sighting.step, len(sighting.steps), sighting.steps[0]))
        del known.counts[1 : len(known.counts) - _LOOKS]


def _retained_by(reach: set[int], retaining: Sequence[tuple[Stack, Iterable[Look]]]) -> tuple[Stack, ...]:
    return tuple(stack for stack, looks in retaining if any(look.walks(number) for look in looks for number in reach))


def _fact(followed: _Followed, files: Collection[str]) -> Holding:
    sighting, feed = followed.sighting, followed.feed
    name = sighting.name if feed is None else feed.name
    return Holding(
        name=name,
        holder=_holder(sighting, name),
        fed=() if feed is None else (feed.place,),
        made=followed.made,
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
