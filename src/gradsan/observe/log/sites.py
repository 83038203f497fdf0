"""Numbers for places in the user's code, so that an event of the log is one machine word."""

import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import CodeType

from gradsan.facts.location import Frame
from gradsan.observe.cells import CELLS

MODULE = "<module>"
SITE_BITS = 24
SITES = 1 << SITE_BITS  # to multiply by when a word is written: Python makes a product and a sum faster than it shifts
SITE_MASK = SITES - 1


class Kind(IntEnum):
    """What an event says. Each code object has one site for each kind but the last, and one for each of its lines."""

    ENTER = 0
    LEAVE = 1  # returned, or an exception went through
    SUSPEND = 2  # a generator or coroutine yielded
    RESUME = 3
    THROWN = 4  # an exception is handled in a generator: it may have been thrown into it while it slept
    LINE = 5


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """What the log keeps of a code object: numbers and names, no tensor. Equal only to itself, which is fast."""

    index: int
    file: str
    function: str  # qualified: `Model.forward`
    first: int  # its lowest line
    last: int  # its highest line
    start: int  # its lowest site
    cell: str | None = None  # of a statement typed at a prompt: what it shares with other runs of the same cell


# A site, taken apart: its line, for kinds other than `LINE`, is where the code begins.
# A plain tuple, which Python unpacks faster than a named one; long logs are read in a loop over these.
Site = tuple[Kind, Code, int]


class _Table(dict[int, Site]):
    """Sites taken apart, each on first use."""

    def __init__(self, code_at: Callable[[int], Code]) -> None:
        super().__init__()
        self._code_at = code_at

    def __missing__(self, site: int) -> Site:
        code = self._code_at(site)
        offset = site - code.start
        taken = (Kind(min(offset, Kind.LINE)), code, code.first + max(offset - Kind.LINE, 0))
        self[site] = taken
        return taken


class Sites:
    """Numbers the places of code objects on first sight, and finds a place again by its number."""

    def __init__(self) -> None:
        self.line_base: dict[int, int] = {}  # id of a code object → what added to a line gives that line's site
        self.start_of: dict[int, int] = {}  # id of a code object → its lowest site
        self._seen: list[tuple[Code, CodeType]] = []  # holds the code object, so that its id stays its own
        self._twins: list[CodeType] = []  # held for the same reason
        self._starts: list[int] = []
        self._free = 1  # site 0 is never given away
        self.table = _Table(self.code_at)  # for loops in which a method call is too much
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, code: CodeType) -> Code | None:
        """Number the places of `code`; `None` when numbers ran out (some sixteen million lines)."""
        known = self.find(code)
        if known is not None:
            return known
        lines = [line for _, _, line in code.co_lines() if line is not None] or [code.co_firstlineno]
        first, last = min(*lines, code.co_firstlineno), max(lines)
        # A timeout, because a fork can leave the lock held by a thread that the child does not have.
        locked = self._lock.acquire(timeout=1)
        try:
            return self.find(code) or self._number(code, first, last)
        finally:
            if locked:
                self._lock.release()

    def _number(self, code: CodeType, first: int, last: int) -> Code | None:
        start = self._free
        if start + Kind.LINE + last - first > SITE_MASK:
            return None
        self._free = start + Kind.LINE + last - first + 1
        cell = CELLS.text_of(code.co_filename) if code.co_name == MODULE else None
        entry = Code(len(self._seen), code.co_filename, code.co_qualname, first, last, start, cell)
        self._starts.append(start)
        self._seen.append((entry, code))
        self._hold(code, entry)
        return entry

    def replace(self, code: CodeType, twin: CodeType) -> None:
        """Let another code object stand for the places of one that was numbered; that one does so no more."""
        entry = self.code_at(self.start_of.pop(id(code)))
        del self.line_base[id(code)]
        self._twins.append(twin)
        self._hold(twin, entry)

    def drop(self, code: CodeType) -> None:
        """Let a code object that was numbered stand for its places no more; what was written of it can be read."""
        del self.start_of[id(code)], self.line_base[id(code)]

    def _hold(self, code: CodeType, entry: Code) -> None:
        self.line_base[id(code)] = entry.start + Kind.LINE - entry.first
        self.start_of[id(code)] = entry.start

    def find(self, code: CodeType) -> Code | None:
        """The entry of a code object that was numbered before."""
        base = self.line_base.get(id(code))
        return None if base is None else self.code_at(base + code.co_firstlineno)

    def code_at(self, site: int) -> Code:
        """The code that a site lies in."""
        return self._seen[bisect_right(self._starts, site) - 1][0]

    def __getitem__(self, site: int) -> Site:
        """The place that a number stands for."""
        return self.table[site]

    def line_site(self, code: Code, line: int) -> int:
        """The site of one of a code's lines; of its first, where the interpreter could not say which line it is."""
        return code.start + Kind.LINE + max(line, code.first) - code.first

    def frame(self, site: int) -> Frame:
        """A site as an entry of a call stack."""
        _, code, line = self[site]
        return Frame(code.file, line, code.function)

    def lines_at(self, file: str, line: int) -> frozenset[int]:
        """Every site of a source line: one for each code object that has it, in every run of a cell."""
        cell = CELLS.text_of(file)
        return frozenset(
            site
            for code, _ in self._seen
            if code.file == file or (cell is not None and code.cell == cell)
            for site in (self.line_site(code, line),)
            if line >= code.first and site < self._free and self.code_at(site) is code
        )
