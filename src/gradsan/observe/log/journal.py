"""What one thread did, in machine words: bounded whatever the length of the run.

A word is `op number << SITE_BITS | site`: when the thread came to that site, the next op it would make had that number.
Words fill blocks of a fixed size. A block begins with the user's stack as the interpreter itself tells it, so each can
be read alone and an event that was missed does no harm beyond its block. The first blocks and the last are kept.
From those between remain the iterations of live loops, and what the first runs of each line made.
"""

from array import array
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradsan.observe.log.activations import Machine
from gradsan.observe.log.frames import LINE_MASK
from gradsan.observe.log.sites import SITE_BITS, SITE_MASK, Kind, Sites
from gradsan.observe.log.skimming import skim

BLOCK_WORDS = 8192
HEAD_BLOCKS = 16
TAIL_BLOCKS = 96
KEPT_RUNS = 3  # how many runs of a line stay known when its block is folded
OPEN_END = 1 << 40  # where the last span ends: no op has this number

# A call stack as a linked list, innermost first: stacks of neighbouring events share their tails.
Stack = tuple[int, "Stack"] | None


if TYPE_CHECKING:
    _Words = array[int]
else:  # 3.11 does not know its items
    _Words = array


class Page(_Words):
    """A block's words, with a number of their own: two plain numbers then say where in the log something was."""

    __slots__ = ("ordinal",)

    ordinal: int  # from 1

    def __init__(self, *_: object) -> None:
        self.ordinal = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the log that can be read alone."""

    number: int  # the op counter when it began
    stack: tuple[int, ...]  # sites of the lines at which the user's calls stood then, outermost first
    words: Page = field(default_factory=lambda: Page("Q"))
    tokens: "array[int]" = field(default_factory=lambda: array("Q"))  # frame identities, one a generator event


@dataclass(frozen=True, slots=True)
class Span:
    """Ops `start` up to but not including `stop`, and the stack that created them."""

    start: int
    stop: int
    stack: Stack


class Journal:
    """The log of one thread."""

    def __init__(
        self,
        sites: Sites,
        thread: int,
        name: str,
        *,
        head_blocks: int = HEAD_BLOCKS,
        tail_blocks: int = TAIL_BLOCKS,
    ) -> None:
        self.thread = thread  # its number
        self.name = name
        self._sites = sites
        self._head_blocks = head_blocks
        self._tail_blocks = tail_blocks
        self._head: list[Block] = []
        self._tail: deque[Block] = deque()
        self._folded: _Folded | None = None

    def open(self, block: Block) -> None:
        """Begin a block; whoever records fills its words. Folds the oldest that is neither first nor recent."""
        if len(self._head) < self._head_blocks:
            self._head.append(block)
            return
        self._tail.append(block)
        if len(self._tail) > self._tail_blocks:
            if self._folded is None:
                self._folded = _Folded(self._sites, self._head)
            self._folded.fold(self._tail.popleft(), self._tail[0])

    @property
    def most_blocks(self) -> int:
        """How many it may come to keep."""
        return self._head_blocks + self._tail_blocks

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is kept whole, in order."""
        return (*self._head, *self._tail)

    @property
    def lost(self) -> tuple[int, int] | None:
        """The range of op numbers (start, stop) of which only the first runs of each line are known."""
        return None if self._folded is None else (self._folded.start, self._folded.stop)

    @property
    def events(self) -> int:
        """How many events are held."""
        return sum(len(block.words) for block in self.blocks)

    def spans(self) -> Iterator[Span]:
        """Everything known to have created ops, in order of their numbers."""
        head, tail, folded = tuple(self._head), tuple(self._tail), self._folded
        after_head = folded.start if folded is not None else tail[0].number if tail else None
        for block, stop in _ended(head, after_head):
            yield from spans_of(self._sites, block, stop)
        if folded is not None:
            yield from folded.excerpts
        for block, stop in _ended(tail, None):
            yield from spans_of(self._sites, block, stop)

    def find(self, number: int) -> tuple[Block, int | None] | Span | None:
        """Where op `number` is reported: a block and where it ends (open: `None`), or an excerpt of a folded one."""
        blocks = self.blocks
        index = bisect_right(blocks, number, key=lambda block: block.number) - 1
        if index < 0:
            return None
        folded = self._folded
        if folded is not None and folded.start <= number < folded.stop:
            return folded.find(number)
        return blocks[index], (blocks[index + 1].number if index + 1 < len(blocks) else None)

    def kept(self, start: int, stop: int | None) -> list[Block]:
        """The whole blocks that tell of ops from `start` on, up to `stop` if it is given."""
        blocks = self.blocks
        first = max(bisect_right(blocks, start, key=lambda block: block.number) - 1, 0)
        last = len(blocks) if stop is None else bisect_right(blocks, stop, key=lambda block: block.number)
        return list(blocks[first:last])

    def machine(self) -> Machine:
        """The stack machine after everything that was logged."""
        if self._folded is not None:
            machine, blocks = self._folded.machine.copy(), tuple(self._tail)
        else:
            machine, blocks = Machine(self._sites), self.blocks
        for block in blocks:
            machine.settle(block.stack)
            machine.feed(block.words[:], block.tokens[:])
        return machine


class _Folded:
    """What remains of the blocks between the first and the last."""

    def __init__(self, sites: Sites, head: list[Block]) -> None:
        self.machine = Machine(sites)
        self.excerpts: list[Span] = []
        self.start = self.stop = 0
        self._sites = sites
        self._runs: Counter[int] = Counter()
        for block in head:
            self.machine.settle(block.stack)
            self.machine.feed(block.words, block.tokens)
            self._runs.update(word & SITE_MASK for word in block.words)

    def fold(self, block: Block, following: Block) -> None:
        """Take in a block. This is done for every event of a long run, so that most go by without a look at each."""
        if not self.stop:
            self.start = block.number
        self.stop = following.number
        sites = list(map(SITE_MASK.__and__, block.words))
        self.machine.settle(block.stack)
        begin = 0 if block.tokens else skim(self.machine, self._sites, sites, following.stack)
        self.machine.feed(block.words[begin:], block.tokens, keep=False)
        runs = self._runs
        fresh = {site for site in set(sites) if runs[site] < KEPT_RUNS}
        if not fresh:
            return
        taken: Counter[int] = Counter()
        for span in spans_of(self._sites, block, following.number):
            site = 0 if span.stack is None else span.stack[0]
            if site in fresh:
                taken[site] += 1
                if runs[site] + taken[site] <= KEPT_RUNS:
                    self.excerpts.append(span)
        runs.update(site for site in sites if site in fresh)

    def find(self, number: int) -> Span | None:
        """The excerpt that holds an op."""
        index = bisect_right(self.excerpts, number, key=lambda span: span.start) - 1
        return self.excerpts[index] if index >= 0 and number < self.excerpts[index].stop else None


def spans_of(sites: Sites, block: Block, stop: int | None) -> Iterator[Span]:
    """The stretches of a block in which ops were created; the last one is open-ended if the block is."""
    begun, stack = block.number, _linked(block.stack)
    words, tokens = block.words[:], iter(block.tokens[:])
    table, line_kind = sites.table, Kind.LINE
    for word in words:
        number, site = word >> SITE_BITS, word & SITE_MASK
        if number > begun:
            yield Span(begun, number, stack)
            begun = number
        kind, code, _ = table[site]
        if kind is line_kind and stack is not None and table[stack[0]][1] is code:  # by far the most
            stack = (site, stack[1])
        else:
            stack = _after(sites, stack, site, tokens)
    if stop is None or stop > begun:
        yield Span(begun, OPEN_END if stop is None else stop, stack)


def stack_after(sites: Sites, block: Block, events: int) -> tuple[int, ...]:
    """Where the user's calls stood after so many events of a block, outermost first."""
    stack, tokens = _linked(block.stack), iter(block.tokens[:])
    for word in block.words[:events]:
        stack = _after(sites, stack, word & SITE_MASK, tokens)
    found = []
    while stack is not None:
        site, stack = stack
        found.append(site)
    return tuple(reversed(found))


def _ended(blocks: tuple[Block, ...], after: int | None) -> Iterator[tuple[Block, int | None]]:
    return zip(blocks, (*(block.number for block in blocks[1:]), after), strict=False)


def _linked(stack: tuple[int, ...]) -> Stack:
    linked: Stack = None
    for site in stack:
        linked = (site, linked)
    return linked


def _after(sites: Sites, stack: Stack, site: int, tokens: Iterator[int]) -> Stack:
    kind, code, _ = sites[site]
    if kind is Kind.ENTER:
        return (site, stack)
    if kind is Kind.RESUME or kind is Kind.THROWN:
        line = sites.line_site(code, next(tokens) & LINE_MASK)
        is_awake = kind is Kind.THROWN and stack is not None and sites[stack[0]][1] is code
        return stack if is_awake else (line, stack)
    frame = stack
    while frame is not None and sites[frame[0]][1] is not code:
        frame = frame[1]
    if kind is Kind.LINE:
        return (site, stack if frame is None else frame[1])
    if kind is Kind.SUSPEND:
        next(tokens)
    return stack if frame is None else frame[1]
