"""Keeps a budget where noting each pass, step and line takes more than it: that is done in turns with nothing at all.

No clock is read for what is noted between the ops of a program, since that would take longer still; it is counted, and
paid for at each rest. Where it is too much, lines are recorded no more; and where that is not enough, the sanitizer
goes away until the next search is earned.
"""

import time
from collections.abc import Callable

from gradsan.observe.guarding import say
from gradsan.observe.sanitizer import Sanitizer

_NOTE = 2e-6  # seconds: about what it takes to note a line, a pass or a step between the ops of a program
_LEAST = 0.1  # seconds that are saved for a search
_IN_TURNS = "lines are recorded no more, and the rest in turns with nothing at all; few errors are explained meanwhile"


class Turns:
    """When the sanitizer of a job is there, and when it is away."""

    def __init__(self, sanitizer: Sanitizer, share: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._sanitizer = sanitizer
        self._share = share
        self._clock = clock
        self._saved = 0.0  # seconds, for the next search; 0: it was never away
        self._begins()

    def rests(self) -> None:
        """Pay for what was noted since the last rest; where that is too much, do less from now on."""
        attention, recorder = self._sanitizer.attention, self._sanitizer.recorder
        gone_by = self._clock() - self._began
        passes_and_steps = sum(self._sanitizer.seen) - self._seen
        noted = passes_and_steps + recorder.pen.written - self._lines
        attention.pay(noted * _NOTE)
        allowed = self._share * gone_by
        if noted * _NOTE <= allowed or not (attention.is_spent or self._saved):
            self._begins()
        elif passes_and_steps * _NOTE <= allowed:
            recorder.stop()
            self._say(noted * _NOTE / gone_by, "lines are recorded no more")
            self._begins()
        else:
            if not self._saved:
                self._say(noted * _NOTE / gone_by, _IN_TURNS)
            # Twice what the last one took, for it may have ended because no more was saved.
            self._saved = max(_LEAST, 2 * (attention.debt - self._debt + allowed)) if self._saved else _LEAST
            seconds = (max(attention.debt, 0.0) + self._saved) / self._share
            self._sanitizer.leave(seconds)
            self._begins(seconds)

    def _begins(self, seconds: float = 0.0) -> None:
        """Now, or in so many seconds from nothing."""
        self._began = self._clock() + seconds
        self._seen = 0 if seconds else sum(self._sanitizer.seen)
        self._lines = self._sanitizer.recorder.pen.written
        self._debt = self._sanitizer.attention.debt - self._share * seconds

    def _say(self, share: float, from_now_on: str) -> None:
        say(
            f"noting each pass, step and line takes about {share:.0%} of the time; the budget is {self._share:.2%}: "
            f"from now on, {from_now_on}"
        )
