"""Runs the events of a log through a stack machine, to know which calls are live and how often their loops went round.

An *activation* is one call of a function of the user's, from entry to exit; a generator's lives on while it sleeps.
Long runs pass all their events through here, so the common cases are written out in one loop.
"""

from array import array
from collections.abc import Sequence
from itertools import islice

from gradsan.observe.log.frames import LINE_BITS, LINE_MASK
from gradsan.observe.log.sites import SITE_BITS, SITE_MASK, Code, Kind, Sites
from gradsan.observe.log.source_loops import Loop, comprehending, loops_of

# Generators that were dropped half-way never say so; those asleep longest are forgotten first.
_ASLEEP_AT_MOST = 4096

Headers = dict[int, tuple[Loop, ...]]  # by line, the loops whose header has that line
Statements = dict[int, int]  # by line, the first line of its statement, where a comprehension makes lines go round


class Track:
    """The iterations of one loop since it was last entered: which, and the op counter at the start of each."""

    __slots__ = ("entered", "iterations", "numbers", "ordinals")

    def __init__(self, *, entered: bool) -> None:
        self.entered = entered  # whether its entry was seen; otherwise iterations count from the start of recording
        self.iterations = 0
        self.ordinals = array("Q")  # the iterations whose start is kept, from 1
        self.numbers = array("Q")

    def begin(self, number: int, *, keep: bool) -> None:
        """An iteration begins at this op number."""
        self.iterations += 1
        if keep:
            self.ordinals.append(self.iterations)
            self.numbers.append(number)

    def copy(self) -> "Track":
        """The same, to be continued apart."""
        twin = Track(entered=self.entered)
        twin.iterations = self.iterations
        twin.ordinals = self.ordinals[:]
        twin.numbers = self.numbers[:]
        return twin


class Activation:
    """One live call."""

    __slots__ = ("awaiting", "begun", "calls", "code", "headers", "latest", "line", "statements", "tracks")

    def __init__(self, code: Code | None, line: int, headers: Headers, statements: Statements) -> None:
        self.code = code  # `None`: the thread itself, below every call of the user's
        self.line = line
        self.headers = headers
        self.statements = statements
        self.tracks: dict[Loop, Track] | None = None
        self.awaiting: Loop | None = None  # entered, its first iteration not begun
        # What the present line has called, this time; all lines of a comprehension count as one. One call is a number
        # only: most lines call a function once.
        self.calls: dict[Code | str, Track | int] | None = None
        self.latest: Code | None = None  # what was typed last at a prompt
        self.begun: int | None = None  # the op counter at its entry; `None`: it was not seen

    def track_of(self, loop: Loop) -> Track | None:
        """The iterations of one of its loops, if it was ever reached."""
        return None if self.tracks is None else self.tracks.get(loop)

    def calls_of(self, code: Code | None) -> Track | None:
        """The present line's calls of a function, if there was more than one."""
        track = None if self.calls is None or code is None else self.calls.get(code.cell or code)
        return track if isinstance(track, Track) else None

    def repeated(self) -> list[Track]:
        """All functions that the present line has called more than once and that have returned: a trainer's steps."""
        tracks = [] if self.calls is None else [each for each in self.calls.values() if isinstance(each, Track)]
        return sorted(tracks, key=lambda each: each.numbers[-1] if each.numbers else 0)

    def reach(self, before: int, line: int, number: int, *, keep: bool) -> None:
        """The call came from line `before` to a loop's header, or to the line after one."""
        awaited = self.awaiting
        if awaited is not None and not awaited.heads(line):  # its body may well begin with another loop
            self.awaiting = None
            track = self.track_of(awaited)
            if awaited.holds(line) and track is not None:
                track.begin(number, keep=keep)
        for loop in self.headers.get(line, ()):
            self._head(loop, before, line, number, keep=keep)

    def _head(self, loop: Loop, before: int, line: int, number: int, *, keep: bool) -> None:
        tracks = self.tracks = {} if self.tracks is None else self.tracks
        if not loop.holds(before):
            tracks[loop] = Track(entered=True)
            if loop.last == loop.header:  # all on one line: nothing tells where the first iteration begins
                tracks[loop].begin(number, keep=keep)
            else:
                self.awaiting = loop
        elif self.awaiting is not loop and (before == line or not loop.heads(before)):
            if loop not in tracks:  # it was running when recording began
                tracks[loop] = Track(entered=False)
            tracks[loop].begin(number, keep=keep)

    def goes_on(self, before: int, line: int) -> bool:
        """Whether it came from one line to another, or the same, within a comprehension."""
        if line == before:
            return line not in self.headers
        return self.statements.get(before, before) == self.statements.get(line, line)

    def enters(self, callee: Code, number: int, *, keep: bool) -> None:
        """The present line has called a function of the user's, itself or through a library.

        A cell of a notebook is run statement by statement: all of one run are one call, and the next begins above.
        """
        if callee.cell is not None:
            latest, self.latest = self.latest, callee
            if latest is not None and latest.cell == callee.cell and latest.last < callee.last:
                return
        calls, key = self.calls, callee.cell or callee
        if calls is None:
            self.calls = {key: number}
            return
        track = calls.get(key)
        if track is None:
            calls[key] = number
            return
        if isinstance(track, int):
            first, track = track, Track(entered=True)
            calls[key] = track
            track.begin(first, keep=keep)
        track.begin(number, keep=keep)

    def copy(self) -> "Activation":
        """The same, to be continued apart."""
        twin = Activation(self.code, self.line, self.headers, self.statements)
        twin.awaiting, twin.latest, twin.begun = self.awaiting, self.latest, self.begun
        if self.tracks is not None:
            twin.tracks = {loop: track.copy() for loop, track in self.tracks.items()}
        if self.calls is not None:
            twin.calls = {code: each if isinstance(each, int) else each.copy() for code, each in self.calls.items()}
        return twin


class Machine:
    """The calls that are live after all events so far; index 0 is the thread itself."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._read: dict[Code, tuple[Headers, Statements]] = {}
        self._asleep: dict[int, Activation] = {}  # by the token of the generator's frame
        self.stack = [Activation(None, 0, {}, {})]

    def copy(self) -> "Machine":
        """The same, to be continued apart."""
        twin = Machine(self._sites)
        twin.stack = [each.copy() for each in self.stack]
        twin._asleep = {token: each.copy() for token, each in self._asleep.items()}
        return twin

    def settle(self, stack: Sequence[int]) -> None:
        """Take over a stack that was read from the interpreter: keep what agrees, replace what does not."""
        agreed = 1
        for site in stack:
            _, code, line = self._sites[site]
            if agreed < len(self.stack) and self.stack[agreed].code is code:
                self.stack[agreed].line = line
            else:
                del self.stack[agreed:]
                self._push(code, line)
            agreed += 1
        del self.stack[agreed:]

    def feed(self, words: Sequence[int], tokens: Sequence[int], *, keep: bool = True) -> None:
        """Run events; `keep` says whether each iteration's op number is kept, or iterations are only counted."""
        sites, stack, push = self._sites.table, self.stack, self._push
        token = iter(tokens)
        line_kind, enter_kind, leave_kind = Kind.LINE, Kind.ENTER, Kind.LEAVE
        for word in words:
            kind, code, line = sites[word & SITE_MASK]
            top = stack[-1]
            if kind is line_kind:
                if top.code is not code:
                    top = self._align(code, line)
                before, top.line = top.line, line
                if top.calls is not None and not top.goes_on(before, line):
                    top.calls = None
                if line in top.headers or top.awaiting is not None:
                    top.reach(before, line, word >> SITE_BITS, keep=keep)
            elif kind is enter_kind:
                top.enters(code, word >> SITE_BITS, keep=keep)
                push(code, line).begun = word >> SITE_BITS
            elif kind is leave_kind:
                if top.code is code:
                    stack.pop()
                else:
                    self._leave(code)
            elif kind is Kind.SUSPEND:
                self._suspend(code, next(token))
            else:
                self._resume(code, next(token), surely=kind is Kind.RESUME)

    def _push(self, code: Code, line: int) -> Activation:
        read = self._read.get(code)
        if read is None:
            read = self._read[code] = _headers_of(code), comprehending(code.file)
        activation = Activation(code, line, *read)
        self.stack.append(activation)
        return activation

    def _align(self, code: Code, line: int) -> Activation:
        """Make the top a call of `code`: exits that were not seen are made good, or an entry that was not."""
        for index in range(len(self.stack) - 1, 0, -1):
            if self.stack[index].code is code:
                del self.stack[index + 1 :]
                return self.stack[index]
        return self._push(code, line)

    def _leave(self, code: Code) -> Activation | None:
        for index in range(len(self.stack) - 1, 0, -1):
            if self.stack[index].code is code:
                left = self.stack[index]
                del self.stack[index:]
                return left
        return None

    def _suspend(self, code: Code, token: int) -> None:
        left = self._leave(code)
        if left is not None:
            self._asleep[token >> LINE_BITS] = left
            while len(self._asleep) > _ASLEEP_AT_MOST:
                del self._asleep[next(islice(self._asleep, 1))]

    def _resume(self, code: Code, token: int, *, surely: bool) -> None:
        sleeper = self._asleep.pop(token >> LINE_BITS, None)
        if sleeper is not None and sleeper.code is code:
            self.stack.append(sleeper)
        elif surely or self.stack[-1].code is not code:
            self._push(code, max(token & LINE_MASK, code.first))


def _headers_of(code: Code) -> Headers:
    headers: Headers = {}
    for loop in loops_of(code.file, code.function, code.first):
        for line in range(loop.header, max(loop.body, loop.header + 1)):
            headers[line] = (*headers.get(line, ()), loop)
    return headers
