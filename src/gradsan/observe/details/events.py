"""What happened when in a run that is over: passes, steps, and where the lines show it, cleared gradients."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gradsan.facts.culprit import shown
from gradsan.facts.details import MOST_EVENTS, EventKind, EventLine, RunTimeline, TimelineEvent
from gradsan.facts.location import Frame
from gradsan.knowledge.effects import does
from gradsan.observe.details.sampling import Sampling
from gradsan.observe.ledger.wording import loss_at, optimizer_at
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.sites import Kind
from gradsan.observe.notes import PassNote
from gradsan.observe.process import Process
from gradsan.observe.user_statements import calls_at
from gradsan.source.names import called_name
from gradsan.source.stores import text

_BLOCKS = 112  # of the log: all that it keeps
_FIRST = MOST_EVENTS // 4  # of too many events, so many of the first are kept, and the others of the last


@dataclass(frozen=True, slots=True)
class _Moment:
    """An event, and when it was: after how many passes had begun, and what had followed the last of them."""

    passes: int
    phase: int  # 0: the pass itself; 1: after it; 2: a step; 3: after a step
    number: int  # the op counter
    kind: EventKind
    line: EventLine
    note: PassNote | None = None


def timeline(process: Process, sampling: Sampling) -> RunTimeline:
    """The run, which is over."""
    passes = list(_passes(process))
    moments = sorted(
        [*passes, *_steps(process), *_cleared(process, passes)], key=lambda each: (each.passes, each.phase)
    )
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
        event = TimelineEvent(each.kind, line, nth, steps, created)
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
        yield _Moment(order + 1, 0, begin, kind, EventLine(stack[-1] if stack else None, loss or ""), note)


def _steps(process: Process) -> Iterator[_Moment]:
    for each in process.steps.since(0):
        stack = each.stack
        name = optimizer_at(stack[-1]) if stack else None
        yield _Moment(each.passes, 2, each.number, "step", EventLine(stack[-1] if stack else None, name or ""))


def _cleared(process: Process, passes: Sequence[_Moment]) -> Iterator[_Moment]:
    """The lines that clear gradients, each time that they ran, by the log of each thread that asks for passes."""
    begins = [each.number for each in passes]
    asking = {each.line.place for each in passes}
    stepping = {step.line.place for step in _steps(process)}
    for log in process.recorder.threads():
        begun, phase = 0, 0
        for place, number in _lines_of(log):
            if place in asking:
                begun, phase = passes[min(bisect_left(begins, number), len(begins) - 1)].passes, 1
            elif place in stepping:
                phase = 3
            elif (receiver := _clears(place)) is not None:
                yield _Moment(begun, phase, number, "zero_grad", EventLine(place, receiver))


def _lines_of(log: Lines) -> Iterator[tuple[Frame, int]]:
    frames: dict[tuple[int, int], Frame] = {}
    for stretch in log.replay(0, None, blocks=_BLOCKS):
        for (kind, code, line), number, _ in stretch.events:
            if kind == Kind.LINE:
                key = (code.index, line)
                if key not in frames:
                    frames[key] = Frame(code.file, line, code.function)
                yield frames[key], number


def _clears(place: Frame) -> str | None:
    """What a line clears, as it is written; None: it clears nothing."""
    for call in calls_at(place):
        if does(called_name(call), "clears"):
            return text(getattr(call.func, "value", call.func)) or ""
    return None


def _ops(note: PassNote) -> int | None:
    return None if note.walked is None else sum(note.walked[1::2]) - sum(note.walked[::2])


def _shown(line: EventLine) -> EventLine:
    place = line.place
    return line if place is None else replace(line, place=Frame(shown(place.file), place.line, place.function))
