"""A program that catches its errors in a loop must not pay for a full explanation of every one."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from gradsan.report import Diagnosis

_AGAIN = 3  # explanations of one failure at one line that are always made
_SHARE = 0.05  # of the time since the run began, that further ones may take together

_REPORTED_AGAIN = "this line has failed often: this is the explanation of an earlier time, with the steps it had then"


@dataclass(slots=True)
class _Failure:
    reported: int = 0
    latest: Diagnosis | None = None


class Patience:
    """What was explained, by failure."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter, share: float = _SHARE) -> None:
        self._clock = clock
        self._share = share
        self._began = clock()
        self._spent = 0.0
        self._failures: dict[Hashable, _Failure] = {}

    def explain(self, failure: Hashable, again: Callable[[], Diagnosis | None]) -> Diagnosis | None:
        """The explanation of a failure: a new one, or the latest of its kind again. None: always a new one."""
        if failure is None:
            return again()
        known = self._failures.setdefault(failure, _Failure())
        begun = self._clock()
        if known.latest is not None and known.reported >= _AGAIN and self._spent > self._share * (begun - self._began):
            return replace(known.latest, notes=(*known.latest.notes, _REPORTED_AGAIN))
        found = again()
        self._spent += self._clock() - begun
        known.reported += 1
        known.latest = found or known.latest
        return found
