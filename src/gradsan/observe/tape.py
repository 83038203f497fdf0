"""What most passes and steps leave behind as they go by: a few machine words, taken in later, many at once.

A program of small steps feels every object that is touched between two of its ops, for none of them is in the cache.
So a pass or a step of a line that is known writes nothing but a record on the tape. Whoever asks for notes, or has to
do more than that at a pass, has the tape taken in first.
"""

import threading
from typing import TYPE_CHECKING

# What it is, the op counter, the site of its line in the log, the page that was written on and how many events were
# there, the thread, and an optimizer's id. A plain tuple: nothing is put together faster.
Record = tuple[int, int, int, int, int, int, int]
AT_MOST = 256  # records that go by before they are taken in
_LAST = 8  # records: a pass, and the steps of some optimizers


# What it is. Plain numbers: those of an enumeration are slow to put together.
STEP, PASS = 1, 2
GIVES = 4  # a pass that accumulates gradients: not `autograd.grad`
RETAINS = 8
CREATES = 16  # a graph of the gradients
READ = 32  # the stack was read: in place of the site is its number, and there is no page

if TYPE_CHECKING:
    from collections.abc import Callable


class Tape(list[Record]):
    """The records of a process, in the order in which they were written."""

    __slots__ = ("_lock", "charge", "limit", "readers", "rooms", "thread")

    limit: int  # records; when it is this long, it is to be taken in; 0: nothing goes on it
    thread: int  # whose passes go on it, by its identity: what others ask for may be something else; 0: nobody's

    def __init__(self) -> None:
        super().__init__()
        self.limit = self.thread = 0
        self.readers: dict[int, Callable[[Record], None]] = {}  # of `PASS` and `STEP`
        self.rooms: dict[str, Callable[[], int]] = {}  # by whose it is: how many records may go by
        self.charge: Callable[[Callable[[], None]], None] = lambda work: work()  # to a budget, where there is one
        self._lock = threading.Lock()

    def take_in(self) -> None:
        """Hand over what was written, oldest first.

        Also when there is nothing on it: another thread may be about to hand over what this one wrote.
        """
        lock = self._lock
        if not lock.acquire(timeout=1):  # a fork can leave it held by a thread that the child does not have
            lock = self._lock = threading.Lock()
            lock.acquire()
        records, taken = self[:], 0
        del self[: len(records)]
        try:
            readers = self.readers
            for record in records:
                taken += 1
                readers[record[0] & (PASS | STEP)](record)
        finally:
            if taken < len(records):  # interrupted, or wrong: this one costs no other
                self[0:0] = records[taken:]
            self.limit = max(self.limit - taken, 0)  # so many fewer may go by
            lock.release()

    @property
    def latest(self) -> int:
        """The op counter when this thread's latest pass began, if it is among the last on the tape; 0: it is not."""
        if self.thread == threading.get_ident():
            for record in reversed(self[-_LAST:]):
                if record[0] & PASS:
                    return record[1]
        return 0

    def run_on(self) -> None:
        """Take in what was written, and let as many more go by as nobody wants to see."""
        self.charge(self.take_in)
        self.limit = min(AT_MOST, *(room() for room in self.rooms.values()))

    def halt(self) -> None:
        """Let the next be noted in full, and all that follow until it runs on."""
        self.limit = 0
