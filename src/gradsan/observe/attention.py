"""Whether every pass and step is attended to, or only what is new or due.

A ledger follows gradients from step to step for a while, then rests: most of a long run costs it nothing. Where all of
the watching has a budget, it rests as soon as that is spent, and until it is earned again.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from gradsan.observe.ledger.budget import WholeBudget
from gradsan.observe.tape import AT_MOST, Tape

T = TypeVar("T")


class Attention:
    """Paid by one ledger; off where none is kept."""

    def __init__(self, share: float | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self._budget = None if share is None else WholeBudget(share, clock)
        self.at_rest: Callable[[], None] = lambda: None  # called whenever a rest begins
        self.is_watching = False  # any pass or step is noted at all
        self.is_on = False  # each is attended to
        self._rests = 0  # steps of optimizers that go by before it is on again
        self.tape = Tape()
        self.tape.rooms["attention"] = self._room
        if self._budget is not None:
            self.tape.charge = self._budget.charge

    def charge(self, work: Callable[[], T]) -> T:
        """What it returns; the time that it takes counts."""
        return work() if self._budget is None else self._budget.charge(work)

    def pay(self, seconds: float) -> None:
        """What the time between two ops was taken for that no clock was read for."""
        if self._budget is not None:
            self._budget.pay(seconds)

    @property
    def debt(self) -> float:
        """Seconds that were taken beyond what is earned by now; below zero: so many are left."""
        return 0.0 if self._budget is None else self._budget.debt

    @property
    def is_spent(self) -> bool:
        """Whether it has to rest, whatever is waited for."""
        return self.debt > 0

    def to_rest(self, so_far: int) -> int:
        """How many events like those so far have to go by until there is time for a search again; 0: there is."""
        return 0 if self._budget is None else self._budget.steps_to_rest(so_far)

    def rest(self, steps: int, so_far: int) -> None:
        """Let so many steps go by, or more where the budget asks for it; `so_far`: those of the whole run."""
        self.at_rest()
        if not self.is_on:  # ended meanwhile
            return
        self.is_on, self._rests = False, max(steps, self.to_rest(so_far))

    def wake(self) -> None:
        """Attend to all that comes."""
        self.is_on, self._rests = True, 0
        self.tape.halt()

    def sleep(self) -> None:
        """Attend to nothing but what is new or due."""
        self.is_on, self._rests = False, 0

    def end(self) -> None:
        """Note nothing at all."""
        self.is_watching = False
        self.tape.halt()

    def step_goes_by(self) -> None:
        """One that was not attended to."""
        if self._rests:
            self._rests -= 1
            if not self._rests:
                self.wake()

    def _room(self) -> int:
        if self.is_on or not self.is_watching:
            return 0
        return self._rests or AT_MOST
