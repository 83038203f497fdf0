"""Holds each thread's open block and turns the page when it is full."""

import sys
import threading
from array import array
from collections.abc import Callable
from itertools import count
from types import CodeType, FrameType

from gradsan.observe.guarding import attempt
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.journal import BLOCK_WORDS, HEAD_BLOCKS, TAIL_BLOCKS, Block, Journal, Page
from gradsan.observe.log.sites import Sites
from gradsan.observe.log.threads import Threads

NEVER = 1 << 62  # no op has this number

# Threads come and go; the logs of those that ended are kept up to this many, the newest ones.
_JOURNALS_AT_MOST = 64
_SMALLEST = 4  # blocks of a thread, however many threads there are


class Here(threading.local):
    """The calling thread's open block. It begins full, so that a thread's first event begins its first real one."""

    def __init__(self, room: int, threads: Threads) -> None:
        self.presence = threads.presence()
        self.words = Page("Q", bytes(8 * room))
        self.tokens = array("Q")
        self.journal: Journal | None = None
        self.turning = False


class Pen:
    """Writes nothing itself: recorders append to `here.words`, for a call more would cost more than the event."""

    def __init__(
        self,
        sites: Sites,
        op_counter: Callable[[], int],
        on_failure: Callable[[BaseException], None],
        *,
        room: int = BLOCK_WORDS,
        head_blocks: int = HEAD_BLOCKS,
        tail_blocks: int = TAIL_BLOCKS,
        blocks: int | None = None,
    ) -> None:
        self.sites = sites
        self.op_counter = op_counter
        self.room = room
        self.threads = Threads(self.fail)
        self.here = Here(room, self.threads)
        # The block of the thread that wrote last, with its identity: for one thread at work this spares the look-up
        # of a thread's own value, which costs as much as all the rest. The code whose line was written last, and where
        # its lines begin among the sites, spare another. One value, so that no thread sees half a change.
        self.open: tuple[int, Page, CodeType | None, int] = _closed()
        # A function that returns when the op counter is past `due` tells it, with its frame as long as that lives.
        self.due = NEVER
        self.ring: Callable[[FrameType, int], None] = lambda *_: None
        self.journals: list[Journal] = []
        self._on_failure = on_failure
        self.threads.farewells.append(self._close)
        self._pages = count(1)
        self._head_blocks = head_blocks
        self._tail_blocks = tail_blocks
        self._blocks = blocks  # of all threads together, where that is limited

    def turn(self, frame: FrameType | None) -> None:
        """Begin a new block for this thread; `frame` is the innermost that is live after the event just written."""
        here = self.here
        if here.turning:  # a finalizer ran the user's code in the midst of this; its events fit into the open block
            return
        here.turning = True
        try:
            block = Block(self.op_counter(), self._stack(frame))
            block.words.ordinal = next(self._pages)
            if here.journal is None:
                here.journal = self._new_journal()
            here.journal.open(block)  # first: what is interrupted here leaves a page without words, and no words lost
            here.words, here.tokens = block.words, block.tokens
            self.open = (threading.get_ident(), block.words, None, 0)
        finally:
            here.turning = False

    def page(self) -> Page:
        """This thread's open block."""
        thread, words, _, _ = self.open
        return words if thread == threading.get_ident() else self.switch()

    def switch(self) -> Page:
        """This thread's open block, when another thread wrote last."""
        words = self.here.words
        self.open = (threading.get_ident(), words, None, 0)
        return words

    def fail(self, error: BaseException) -> None:
        """An error of our own: recording ends, the program goes on."""
        if not isinstance(error, RecursionError):  # a program near its limit is about to fail by itself
            attempt(lambda: self._on_failure(error), lambda _: None)

    def block(self, page: int) -> Block | None:
        """The block whose words are that page, if it is kept whole."""
        every = (block for journal in self.journals for block in journal.blocks)
        return next((block for block in every if block.words.ordinal == page), None)

    @property
    def written(self) -> int:
        """How many events were written in all threads, about: pages that others have open count as full."""
        pages = [journal.blocks[-1].words for journal in self.journals if journal.blocks]
        latest = max(pages, key=lambda page: page.ordinal, default=None)
        return 0 if latest is None else (latest.ordinal - 1) * self.room + len(latest)

    def journal(self, thread: int) -> Journal | None:
        """The log of a thread, by its number."""
        return next((each for each in self.journals if each.thread == thread), None)

    def _stack(self, frame: FrameType | None) -> tuple[int, ...]:
        base = self.sites.line_base
        return tuple(
            base[id(each.f_code)] + (each.f_lineno or each.f_code.co_firstlineno)
            for each in reversed(frames_out(frame))
            if id(each.f_code) in base
        )

    def _close(self, identity: int) -> None:
        """A thread has ended: nothing is to be written into its block by another of that identity."""
        if self.open[0] == identity:
            self.open = _closed()

    def _new_journal(self) -> Journal:
        thread = threading.get_ident()
        # Not `threading.current_thread()`, which would leave a dummy behind for threads that Python did not start.
        name = next((each.name for each in threading.enumerate() if each.ident == thread), f"thread {thread}")
        self._make_room()
        usual = self._head_blocks + self._tail_blocks
        most = max(min(self._share(), usual), _SMALLEST)
        # The block that is open is one more than those that are kept.
        head = self._head_blocks if most == usual else most // _SMALLEST
        journal = Journal(self.sites, self.threads.number(), name, head_blocks=head, tail_blocks=most - head)
        self.journals.append(journal)
        return journal

    def _make_room(self) -> None:
        """Give up journals of threads that have ended, as far as there is no room for another."""
        # The frames stay in no variable: this one's would keep itself alive, and with it all that the program holds.
        alive = set(map(self.threads.number, sys._current_frames()))  # noqa: SLF001 # the documented way to them
        ended = [each for each in self.journals if each.thread not in alive]
        while ended and (len(self.journals) >= _JOURNALS_AT_MOST or self._share() < _SMALLEST):
            self.journals.remove(ended.pop(0))

    def _share(self) -> int:
        """How many blocks a thread more may have: half of what the others leave, so that there is always a rest."""
        if self._blocks is None:
            return self._head_blocks + self._tail_blocks
        return (self._blocks - sum(each.most_blocks for each in self.journals)) // 2


def _closed() -> tuple[int, Page, CodeType | None, int]:
    """What is open where no thread writes."""
    return (0, Page("Q"), None, 0)
