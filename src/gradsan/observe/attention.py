"""Whether every pass and step is attended to, or only what is new or due.

A ledger follows gradients from step to step for a while, then rests: most of a long run costs it nothing.
"""

from gradsan.observe.tape import AT_MOST, Tape


class Attention:
    """Paid by one ledger; off where none is kept."""

    def __init__(self) -> None:
        self.is_watching = False  # any pass or step is noted at all
        self.is_on = False  # each is attended to
        self._rests = 0  # steps of optimizers that go by before it is on again
        self.tape = Tape("Q")
        self.tape.rooms["attention"] = self._room

    def rest(self, steps: int) -> None:
        """Let so many steps go by."""
        self.is_on, self._rests = False, steps

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
