"""Whether every pass and step is attended to, or only what is new or due.

A ledger follows gradients from step to step for a while, then rests: most of a long run costs it nothing.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Attention:
    """Paid by one ledger; off where none is kept."""

    is_watching: bool = False  # any pass or step is noted at all
    is_on: bool = False  # each is attended to
    rests: int = 0  # steps of optimizers that go by before it is on again

    def rest(self, steps: int) -> None:
        """Let so many steps go by."""
        self.is_on, self.rests = False, steps

    def wake(self) -> None:
        """Attend to all that comes."""
        self.is_on, self.rests = True, 0
