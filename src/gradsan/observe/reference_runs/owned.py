"""The reference run in which an optimizer has all that it was to have."""

from typing import Any

from gradsan.observe.ledger.unowned import forgotten_by, held_by
from gradsan.observe.modules import trained
from gradsan.observe.reference_runs.kept import Same


class Owned(Same):
    """Parameters that were put into a model below the optimizer's creation, or into a plain list, are its own."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[int] = set()  # ids of optimizers

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Before its first step, it is given them: nothing is kept of any parameter yet."""
        if id(optimizer) in self._seen:
            return
        self._seen.add(id(optimizer))
        forgotten = forgotten_by(optimizer).parameters
        if forgotten and not optimizer.state:
            held, groups = held_by(trained().modules), optimizer.param_groups
            for group in groups:
                group["params"] = [each for each in group["params"] if id(each) in held]
            groups[-1]["params"].extend(forgotten)
