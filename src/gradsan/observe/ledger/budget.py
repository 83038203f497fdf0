"""How much time dear looks may take."""

import time
from typing import Self

_SHARE = 0.005  # of the time since the run began
_ALWAYS = 16  # looks that are never refused: what is found must not hang on the speed of a machine


class Budget:
    """Enter it around a look, when it allows one."""

    grant = 0.1  # seconds, for the first looks: short programs end before a share is worth anything

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._entered = 0.0
        self._spent = 0.0
        self._looks = 0

    def allows(self) -> bool:
        """Whether there is time left."""
        return self._looks < _ALWAYS or self._spent < self.grant + _SHARE * (time.perf_counter() - self._began)

    def __enter__(self) -> Self:
        self._looks += 1
        self._entered = time.thread_time()  # a busy machine is no reason to look less
        return self

    def __exit__(self, *_: object) -> None:
        self._spent += time.thread_time() - self._entered
