"""How much time costly searches may take."""

import time
from collections.abc import Callable
from typing import Self, TypeVar

T = TypeVar("T")

_ALWAYS = 16  # searches that are never refused: what is found must not hang on the speed of a machine


class Budget:
    """Enter it around a search that must be; `spend` it on one that may be left out."""

    grant = 0.1  # seconds, for the first searches: short programs end before a share is worth anything
    share = 0.005  # of the time since the run began

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._entered = 0.0
        self._spent = 0.0
        self._searches = 0

    def spend(self, search: Callable[[], T]) -> T | None:
        """What it returns, if there is time left for it."""
        granted = self.grant + self.share * (time.perf_counter() - self._began)
        if self._searches >= _ALWAYS and self._spent >= granted:
            return None
        with self:
            return search()

    def __enter__(self) -> Self:
        self._searches += 1
        self._entered = time.thread_time()  # a busy machine is no reason to search less
        return self

    def __exit__(self, *_: object) -> None:
        self._spent += time.thread_time() - self._entered
