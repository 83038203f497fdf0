"""Ends a process of a trial when it has done the steps that were asked for: a program may mean to train for days."""

import os
import sys
import time
from collections.abc import Callable

from gradsan.fix.trials.arrangement import Limit

_PASSES_TO_A_STEP = 32  # who asks for more without a step has no optimizer, or accumulates beyond all measure
_DEAF = 3  # passes after the end; then the program has caught what was to end it


class Ending:
    """Counts steps and passes, and ends the program with status 0. `leave` writes what is to be left behind."""

    def __init__(self, limit: Limit, leave: Callable[[], None]) -> None:
        self._limit = limit
        self._leave = leave
        self._began: float | None = None  # when the first pass was asked for
        self.steps = 0
        self.passes = 0
        self._ended_at: int | None = None  # after so many passes

    @property
    def came(self) -> bool:
        """Whether the program was ended."""
        return self._ended_at is not None

    def stepping(self) -> None:
        """An optimizer is about to make a step."""
        self.steps += 1

    def passing(self) -> None:
        """A pass is about to be made; it is not, where the limit is reached."""
        if self._began is None:
            self._began = time.monotonic()
        if self._ended_at is not None and self.passes - self._ended_at > _DEAF:
            self._leave()
            sys.stdout.flush()
            os._exit(0)
        if self._is_reached(time.monotonic() - self._began):
            self._ended_at = self.passes if self._ended_at is None else self._ended_at
            self.passes += 1
            sys.exit(0)
        self.passes += 1

    def _is_reached(self, seconds: float) -> bool:
        limit = self._limit
        if limit.most_seconds is not None and seconds > limit.most_seconds:
            return self.steps > 0 and not _is_one_of_several()
        if limit.steps is None:
            return False
        enough = self.steps >= limit.steps or (self.steps == 0 and self.passes >= limit.steps * _PASSES_TO_A_STEP)
        return enough and (seconds >= limit.seconds or _is_one_of_several())


def _is_one_of_several() -> bool:
    """Ranks wait for one another: they end at the same step, whatever their clocks say."""
    return os.environ.get("WORLD_SIZE", "1") not in ("", "0", "1")
