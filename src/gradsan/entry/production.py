"""Watching a job that runs for a week: within a budget, and whoever is to know of silent problems is told meanwhile.

They are looked for whenever the watching rests. What is found at two such moments, one after the other, is reported,
once; what was found at the last of them only, when the program ends. So nothing is reported that is but half done.
"""

import atexit
import logging
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gradsan.entry.turns import Turns
from gradsan.errors import GradsanError
from gradsan.observe.footprint import bytes_held
from gradsan.observe.guarding import attempt, say, shown
from gradsan.report import Diagnosis

if TYPE_CHECKING:
    from gradsan.entry.session import Session

Listener = Callable[[Diagnosis], None]  # the whole protocol: it is called with each silent problem, once
USUAL = "0.5%"
_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*")
_LARGEST = 0.5
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([KMG])B\s*", re.IGNORECASE)
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
_SMALLEST = 2 * 10**6  # bytes: with less, the lines of one thread have no room
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING}


class BadBudgetError(GradsanError):
    """A budget that is none."""


def share_of(budget: str | float) -> float:
    """How much of a job's time watching may take: "0.5%" is 0.005."""
    found = _SHARE.fullmatch(budget) if isinstance(budget, str) else None
    share = float(found[1]) / 100 if found else budget
    if isinstance(share, str | bool) or not 0 < share <= _LARGEST:
        raise BadBudgetError(f"{budget!r} is no budget", 'give a share of the time, "0.5%" or 0.005, up to a half')
    return share


def room_of(memory: str | int) -> int:
    """How many bytes notes may take: "64MB" is 64,000,000."""
    found = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    room = int(float(found[1]) * _UNITS[found[2].upper()]) if found else memory
    if not isinstance(room, int) or isinstance(room, bool) or room < _SMALLEST:
        raise BadBudgetError(f"{memory!r} is no limit of memory", 'give an amount, "64MB" or 64_000_000, from 2 MB on')
    return room


def to_logger(logger: logging.Logger | None = None) -> Listener:
    """Reports to a logger: that of the name `gradsan`, if none is given."""
    chosen = logger or logging.getLogger("gradsan")

    def listener(found: Diagnosis) -> None:
        chosen.log(_LEVELS[found.severity], "%s", found, extra={"gradsan": found})

    return listener


class Production:
    """What a session finds while it goes on, given to a listener."""

    def __init__(self, session: "Session", listener: Listener, share: float, room: int | None = None) -> None:
        self._session = session
        self._share = share
        self._turns = Turns(session.sanitizer, share)
        self._room = room  # bytes that the notes may take
        self._listener = listener
        self._process = os.getpid()
        self._latest: Sequence[Diagnosis] = ()  # what was found the last time
        self._seen: set[str] = set()  # its fingerprints
        self._reported: set[str] = set()
        self._at_exit = partial(attempt, self._end, _unreported)

    def begin(self) -> None:
        """Look at every rest, and at the end."""
        self._session.sanitizer.attention.at_rest = self._look
        self._session.when_stopped(self._at_exit)
        atexit.register(self._at_exit)

    def _end(self) -> None:
        """The program is over, or is watched no longer; what its forks do is not reported."""
        atexit.unregister(self._at_exit)
        if os.getpid() == self._process and self._session.has_seen_passes:
            self._tell(
                self._latest if self._session.sanitizer.is_away else self._session.conclude(self._reported).silent
            )

    def _look(self) -> None:
        if os.getpid() != self._process:
            return
        self._latest = self._session.conclude_so_far(self._reported).silent
        seen, self._seen = self._seen, {each.fingerprint for each in self._latest}
        self._tell(each for each in self._latest if each.fingerprint in seen)
        if self._room is not None and bytes_held(self._session.sanitizer) > self._room:
            self._end()
            say("silent problems are no longer looked for: the notes take more memory than is allowed")
        else:
            self._turns.rests()

    def _tell(self, found: Iterable[Diagnosis]) -> None:
        for each in found:
            if each.fingerprint in self._reported:
                continue
            self._reported.add(each.fingerprint)
            try:
                self._listener(each)
            except Exception as error:  # noqa: BLE001 # a listener is no reason for a job to end
                say(f"{each.code} is not reported: {shown(error)}")


def _unreported(error: BaseException) -> None:
    say(f"silent problems are not reported: {shown(error)}")
