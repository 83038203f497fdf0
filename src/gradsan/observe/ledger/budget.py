"""How much time costly searches may take, and all of the watching where that is limited too."""

import math
import time
from collections.abc import Callable
from typing import Self, TypeVar

T = TypeVar("T")

_ALWAYS = 16  # searches that are never refused: what is found must not hang on the speed of a machine


class Budget:
    """Enter it around a search that must be; `spend` it on one that may be left out."""

    grant = 0.1  # seconds, for the first searches: short programs end before a share is worth anything
    share = 0.005  # of the time since the run began

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = clock()
        self._entered = 0.0
        self._spent = 0.0
        self._searches = 0

    def spend(self, search: Callable[[], T]) -> T | None:
        """What it returns, if there is time left for it."""
        if self._searches >= _ALWAYS and self.debt >= 0:
            return None
        with self:
            return search()

    @property
    def gone_by(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._began

    @property
    def debt(self) -> float:
        """Seconds that were spent beyond what is granted by now; below zero: so many are left."""
        return self._spent - self.grant - self.share * self.gone_by

    def __enter__(self) -> Self:
        self._searches += 1
        self._entered = time.thread_time()  # a busy machine is no reason to search less
        return self

    def charge(self, work: Callable[[], T]) -> T:
        """What it returns: it must be done, whatever is left. For work that may be done by several threads at once."""
        began = time.thread_time()
        try:
            return work()
        finally:
            self._spent += time.thread_time() - began

    def pay(self, seconds: float) -> None:
        """They were spent, and nobody has measured them."""
        self._spent += seconds

    def __exit__(self, *_: object) -> None:
        self._spent += time.thread_time() - self._entered


class WholeBudget(Budget):
    """For all that watching does in a run, beside a second in which it finds its way."""

    grant = 1.0

    def __init__(self, share: float, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(clock)
        self.share = share

    def steps_to_rest(self, so_far: int) -> int:
        """How many steps of the program have to go by until no more than the share was spent; 0: none."""
        seconds = max(self.debt, 0.0) / self.share
        return math.ceil(seconds * so_far / max(self.gone_by, 1e-9))


class AttendingBudget(WholeBudget):
    """For attending to passes and steps: where those are small, what it costs is felt."""

    grant = 0.1
