"""The lines that ask for passes: what they keep, what is walked again, how far back they reach."""

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from types import FrameType
from typing import TYPE_CHECKING, Any

from gradsan.facts.course import Carried, Walk
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.callers import Calls
from gradsan.observe.graph import about_bytes, leaves_of, reach, roots_of, saves_values
from gradsan.observe.graph_snapshot import Snapshot
from gradsan.observe.log.frames import frames_out
from gradsan.observe.notes import Begun, Site
from gradsan.observe.steps import Steps
from gradsan.observe.unasked import ids

if TYPE_CHECKING:
    from array import array

LineKey = tuple[int, int]

_REMEMBERED = 16  # retained passes whose graphs later passes are compared with
_WALKS_FIRST, _WALKS_LAST = 8, 24
_GAPS = 6  # passes whose distances tell what is usual
_SMALL, _COMPARED = 10_000, 8  # elements of a leaf whose values are compared, and so many leaves
_WEIGHED = (1, 3)  # passes of a line whose saved bytes are added up

# What stands between the user's line and the engine where the user asked for the pass.
_TORCH_FILES = (
    "torch/autograd/__init__.py",
    "torch/_tensor.py",
    "torch/overrides.py",
    "torch/utils/_device.py",  # of `torch.set_default_device`
)


@dataclass(slots=True, eq=False)
class Line:
    """One line that asks for passes."""

    calls: Calls
    kind: str
    is_direct: bool
    site: Site
    attended: int = 0  # passes that were attended to
    retaining: int = 0  # of those, and likewise
    creating: int = 0
    followed: int = 0
    walked_again: int = 0
    saved_bytes: int = 0
    snapshots_taken: int = 0
    ops: int = 0  # of all passes of which a snapshot was taken
    most: int = 0  # of one of them
    weighed: int = 0  # of the one whose saved bytes were added up
    first: float = 0.0  # when the first pass began
    last: float = 0.0
    until: int = 0  # how many passes there were at `last`
    walks: list[Walk] = field(default_factory=list)
    latest: "deque[Walk]" = field(default_factory=lambda: deque(maxlen=_WALKS_LAST))
    versions: dict[int, int] = field(default_factory=dict)  # of the leaves that its first pass reached
    values: dict[int, float] = field(default_factory=dict)  # sums of the leaves that its latest pass reached, if asked
    reached: set[int] = field(default_factory=set)  # ids of leaves
    carried: Carried | None = None
    kept: "deque[Snapshot]" = field(default_factory=lambda: deque(maxlen=_REMEMBERED))  # of passes that retained

    @property
    def stack(self) -> Stack:
        """The calls that led to its latest pass."""
        return stack_of(self.calls)

    @property
    def passes(self) -> int:
        """How many it has asked for, those that ran inside of others not counted."""
        return self.site.forgotten + len(self.site.begins)

    @property
    def retained(self) -> int:
        """About how many of them kept the graph."""
        return round(self.retaining * self.passes / self.attended) if self.attended else 0

    @property
    def differentiable(self) -> int:
        """About how many of them were asked to make a graph of the gradients."""
        return round(self.creating * self.passes / self.attended) if self.attended else 0

    @property
    def heaviest(self) -> int:
        """About the saved bytes of its largest pass, if an op saves as much there as elsewhere."""
        return self.saved_bytes * self.most // max(self.weighed, 1)

    @property
    def seconds(self) -> float:
        """On average from one pass to the next."""
        return (self.last - self.first) / (self.until - 1) if self.until > 1 else 0.0

    def has_kept_for(self, note: Begun, walked: "array[int]") -> bool:
        """Whether a pass walks what one of this line's latest kept, of those of which no snapshot was taken."""
        unseen = (each for each in list(self.site.last)[-_REMEMBERED:] if each.retains and each.seen is None)
        return any(
            each.order < note.order
            and each.thread == note.thread
            and each.like is not None
            and meet(walked, each.like.moved(each.begin)[0])
            for each in unseen
        )

    def passes_since(self, number: int) -> int:
        """How many passes began after the op counter stood there."""
        return len(self.site.begins) - bisect_right(self.site.begins, number)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A pass that is about to run, and who asked for it."""

    note: Begun
    tensors: Sequence[Any]
    frame: FrameType
    line: Line


@dataclass(slots=True, eq=False)
class Kept:
    """A pass that retained its graph."""

    note: Begun
    snapshot: Snapshot
    line: Line
    created: tuple[int, int]  # the numbers of the ops that it created itself, for gradients of gradients


class PassLines:
    """Of a process."""

    def __init__(self, steps: Steps, take_in: Callable[[], None]) -> None:
        self.lines: dict[LineKey, Line] = {}  # by `key_of`
        self._steps = steps
        self._take_in = take_in  # what is known of passes that were not handed on
        self.peak = 0  # about: bytes of saved values that were seen alive at once
        self._kept: deque[Kept] = deque(maxlen=_REMEMBERED)

    def begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> Line | None:
        """A pass is about to run."""
        if not note.caller.calls:
            return None
        key = key_of(note.caller.calls)
        line = self.lines.get(key)
        if line is None:
            kind = "backward" if note.accumulates else "grad"
            is_direct = _is_direct(frame, note.caller.calls[-1][0])
            line = self.lines[key] = Line(note.caller.calls, kind, is_direct, note.site)
            line.first = time.perf_counter()
        line.calls = note.caller.calls
        line.last, line.until = time.perf_counter(), line.passes
        line.attended += 1
        line.retaining += note.retains
        line.creating += note.creates
        if note.seen is not None:
            self._note_walk(note, note.seen, line, tensors)
        return line

    @property
    def files(self) -> set[str]:
        """In which there are calls that lead to passes."""
        return {code.co_filename for each in self.lines.values() for code, _ in each.calls}

    @property
    def latest(self) -> int:
        """The op counter when the latest pass began."""
        self._take_in()
        return max((each.site.begin for each in self.lines.values()), default=0)

    def usual_gap(self) -> int | None:
        """How many ops are created from one pass of a line to its next, where that is least; None: not known."""
        gaps = (sorted(two - one for one, two in pairwise(line.site.begins[-_GAPS:])) for line in self.lines.values())
        return min((each[len(each) // 2] for each in gaps if each), default=None)

    def ended(self, note: Begun, counter: int) -> None:
        """It has run."""
        for each in self._kept:
            if each.note is note:
                each.created = (note.begin, counter)
                each.line.followed += 1

    def forget_undecided(self) -> None:
        """The program has failed: of the latest pass of a line, nobody knows whether another was to use its graph."""
        for each in self._kept:
            if each.note.begin == each.line.site.begin and each.line.followed:
                each.line.followed -= 1

    def _note_walk(self, note: Begun, snapshot: Snapshot, line: Line, tensors: Sequence[Any]) -> None:
        walked = snapshot.walked
        ops = sum(walked[1::2]) - sum(walked[::2])
        line.snapshots_taken += 1
        line.ops += ops
        line.most = max(line.most, ops)
        line.reached.update(snapshot.leaves)
        for each in list(self._kept):
            if each.note.thread != note.thread or meet(walked, each.snapshot.walked, each.created):
                each.line.walked_again += 1
                self._kept.remove(each)
        for other in self.lines.values():
            if other.retaining and other.has_kept_for(note, walked):
                other.walked_again += 1
        if note.retains:
            line.kept.append(snapshot)
            self._kept.append(Kept(note, snapshot, line, (0, 0)))
        if line.passes in _WEIGHED:
            line.saved_bytes = sum(about_bytes(node) for node in reach(roots_of(tensors)) if saves_values(node))
            line.weighed = ops
        walk = self._walk(snapshot, line, ops)
        if note.retains and walk.back and not walk.updates and _is_changed(line, tensors):
            walk = replace(walk, updates=walk.back)  # by hand, on `.data`
        (line.walks if len(line.walks) < _WALKS_FIRST else line.latest).append(walk)

    def _walk(self, snapshot: Snapshot, line: Line, ops: int) -> Walk:
        oldest = snapshot.walked[0] if ops else snapshot.begin
        back = line.passes_since(oldest) - 1
        updates = self._steps.count_since(oldest)
        if not line.versions:
            line.versions = dict(snapshot.leaves)
        elif not updates and any(line.versions.get(leaf, now) != now for leaf, now in snapshot.leaves.items()):
            updates = back  # by hand
        return Walk(line.passes, ops, max(back, 0), updates)


def _is_changed(line: Line, tensors: Sequence[Any]) -> bool:
    """Whether a leaf has other values than when the pass before was asked for, though no version says so."""
    import torch

    plain = ids(torch.Tensor, torch.nn.Parameter)
    leaves = (each for each in leaves_of(reach(roots_of(tensors))) if id(type(each)) in plain)
    small = (each for each in leaves if each.numel() <= _SMALL and each.device.type == "cpu")
    before, line.values = line.values, {id(each): float(each.detach().sum()) for each in islice(small, _COMPARED)}
    return any(before.get(leaf, now) != now for leaf, now in line.values.items())


def stack_of(calls: Calls) -> Stack:
    """As reports have it."""
    return tuple(Frame(code.co_filename, line, code.co_qualname) for code, line in calls)


def key_of(calls: Calls) -> LineKey:
    """What distinguishes the lines that ask for passes. Hashing a code object would hash all that is in it."""
    code, line = calls[-1]
    return id(code), line


def _is_direct(frame: FrameType, code: Any) -> bool:  # noqa: ANN401 # a code object
    """Whether nothing but PyTorch's own code stands between the user's line and the engine."""
    for each in frames_out(frame):
        if each.f_code is code:
            return True
        if not each.f_code.co_filename.replace("\\", "/").endswith(_TORCH_FILES):
            return False
    return False


def meet(walked: "array[int]", earlier: "array[int]", created: tuple[int, int] = (0, 0)) -> bool:
    """Whether a pass walks an op that an earlier one had walked, or created."""
    place = bisect_right(walked, created[0])
    if created[1] > created[0] and (place % 2 == 1 or (place < len(walked) and walked[place] < created[1])):
        return True
    mine, theirs = 0, 0
    while mine < len(walked) and theirs < len(earlier):
        if walked[mine + 1] <= earlier[theirs]:
            mine += 2
        elif earlier[theirs + 1] <= walked[mine]:
            theirs += 2
        else:
            return True
    return False
