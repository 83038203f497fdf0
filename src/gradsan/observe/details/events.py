"""What happened when in a run that is over: passes, steps, and where the lines show it, cleared gradients."""

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from gradsan.facts.culprit import shown
from gradsan.facts.details import MOST_EVENTS, EventKind, EventLine, RunTimeline, TimelineEvent
from gradsan.facts.location import Frame
from gradsan.observe.details.cleared import cleared_at, lines_of
from gradsan.observe.details.sampling import Sampling
from gradsan.observe.ledger.wording import loss_at, optimizer_at
from gradsan.observe.notes import PassNote
from gradsan.observe.process import Process

_FIRST = MOST_EVENTS // 4  # of too many events, so many of the first are kept, and the others of the last

_PASS, _AFTER_PASS, _STEP, _AFTER_STEP = range(4)  # what had happened since the latest pass began


@dataclass(frozen=True, slots=True)
class _Moment:
    """An event, and when it was: after how many passes had begun, and what had followed the last of them."""

    passes: int
    phase: int
    number: int  # the op counter
    kind: EventKind
    line: EventLine
    note: PassNote | None = None


def timeline(process: Process, sampling: Sampling) -> RunTimeline:
    """The run, which is over."""
    passes, steps = list(_passes(process)), list(_steps(process))
    cleared = _cleared(process, passes, {each.line.place for each in steps})
    moments = sorted([*passes, *steps, *cleared], key=lambda each: (each.passes, each.phase))
    lines: dict[EventLine, int] = {}
    events = _events(moments, lines)
    left_out = max(len(events) - MOST_EVENTS, 0)
    kept = events if not left_out else [*events[:_FIRST], *events[_FIRST + left_out :]]
    return RunTimeline(
        passes=process.passes.count,
        steps=process.steps.count,
        lines=tuple(map(_shown, lines)),
        events=tuple(kept),
        left_out=left_out,
        holders=sampling.holders,
        samples=sampling.samples,
    )


def _events(moments: Sequence[_Moment], lines: dict[EventLine, int]) -> list[TimelineEvent]:
    times: dict[tuple[str, int], int] = {}
    events, steps, number = [], 0, 0
    for each in moments:
        line = lines.setdefault(each.line, len(lines))
        nth = times[each.kind, line] = times.get((each.kind, line), 0) + 1
        note, created = each.note, max(each.number - number, 0)
        number_of_pass = each.passes - 1 if each.phase == _PASS else None
        event = TimelineEvent(each.kind, line, nth, steps, number_of_pass, created)
        if note is not None:
            event = replace(event, ops=_ops(note), retains=note.retains, failed=note.failed)
        events.append(event)
        steps += each.kind == "step"
        number = max(each.number, number)
    return events


def _passes(process: Process) -> Iterator[_Moment]:
    """Those of the main thread of training, as far back as their beginnings are known."""
    order = -1
    for begin, note, latest in process.passes.course():
        order, stack = order + 1 if note is None else note.index, latest.stack
        loss = loss_at(stack[-1], is_direct=True) if stack else None
        kind: EventKind = "backward" if latest.accumulates else "grad"
        yield _Moment(order + 1, _PASS, begin, kind, EventLine(stack[-1] if stack else None, loss or ""), note)


def _steps(process: Process) -> Iterator[_Moment]:
    for each in process.steps.since(0):
        name = None if each.line is None else optimizer_at(each.line)
        yield _Moment(each.passes, _STEP, each.number, "step", EventLine(each.line, name or ""))


def _cleared(process: Process, passes: Sequence[_Moment], stepping: Container[Frame | None]) -> Iterator[_Moment]:
    """The lines that clear gradients, each time that they ran, by the log of each thread that asks for passes."""
    begins = [each.number for each in passes]
    asking = {each.line.place for each in passes}
    for log in process.recorder.threads():
        begun, phase = 0, _PASS
        for place, number in lines_of(log):
            if place in asking:
                begun, phase = passes[min(bisect_left(begins, number), len(begins) - 1)].passes, _AFTER_PASS
            elif place in stepping:
                phase = _AFTER_STEP
            elif (receiver := cleared_at(place)) is not None:
                yield _Moment(begun, phase, number, "zero_grad", EventLine(place, receiver))


def _ops(note: PassNote) -> int | None:
    return None if note.walked is None else sum(note.walked[1::2]) - sum(note.walked[::2])


def _shown(line: EventLine) -> EventLine:
    place = line.place
    return line if place is None else replace(line, place=Frame(shown(place.file), place.line, place.function))
