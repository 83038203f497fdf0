"""Numbers for threads, none of which is used twice.

Python gives the identity of a thread that has ended to the next one, and PyTorch counts the ops of each from 0. Taken
for one, the passes of the first would seem to be the second's.
"""

import sys
import threading
from collections.abc import Callable
from itertools import count
from weakref import ref

from gradsan.observe.guarding import is_ours

_identity = threading.get_ident


class Threads:
    """Of a process. A thread's number is its identity, where no other had that before."""

    def __init__(self, fail: Callable[[BaseException], None]) -> None:
        self.farewells: list[Callable[[int], None]] = []  # each is called as a thread ends, with its identity
        self.numbers: dict[int, int] = {}  # by identity, where another thread had it
        self._fresh = count(1)  # identities are addresses, none of which is that low
        self._fail = fail

    def number(self, identity: int | None = None) -> int:
        """Of the thread that has this identity now; of this one, where none is given."""
        identity = _identity() if identity is None else identity
        return self.numbers.get(identity, identity)

    def presence(self) -> object:
        """For this thread to hold as a value of its own: with it, the thread is seen to end."""
        identity = _identity()
        # A library's thread is none of Python's, and seems to end whenever it returns from a call to Python.
        is_known = any(each.ident == identity for each in threading.enumerate())
        return _Presence(self, identity) if is_known else None

    def ends(self, identity: int) -> None:
        """The thread of this identity is about to be no more."""
        try:
            for each in self.farewells:
                each(identity)
            self.numbers[identity] = next(self._fresh)
        except BaseException as error:
            if not is_ours(error):
                raise
            self._fail(error)


class _Presence:
    """Lives as long as the thread that holds it."""

    __slots__ = ("_identity", "_threads")

    def __init__(self, threads: Threads, identity: int) -> None:
        self._threads = ref(threads)  # whoever counts threads may be gone before they are
        self._identity = identity

    def __del__(self) -> None:
        try:
            threads = self._threads()
            if threads is not None and not sys.is_finalizing():
                threads.ends(self._identity)
        except BaseException as error:
            if not is_ours(error):
                raise
