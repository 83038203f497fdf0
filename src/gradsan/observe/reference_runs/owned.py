"""The reference run in which an optimizer has all that it was to have."""

from collections.abc import Iterable
from typing import Any

from gradsan.observe.ledger.unowned import forgotten_by, in_place_of
from gradsan.observe.modules import parameters_of
from gradsan.observe.reference_runs.kept import Same


class Owned(Same):
    """What was put into a model below the optimizer's creation, or into a plain list, is its own.

    What has taken the place of one of its parameters takes it there, too, with the settings of that group.
    """

    runs_on = True

    def __init__(self) -> None:
        super().__init__()
        self._times = 0  # that an optimizer was given some
        self._without: dict[int, set[int]] = {}  # by the id of an optimizer: of its parameters that had no gradient

    @property
    def noted(self) -> Iterable[int]:
        """Something where an optimizer was given what it was to have: else there is nothing to compare."""
        return range(self._times)

    def before_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Before its first step, nothing is kept of any parameter yet; later, one that is replaced has no gradient."""
        without = {id(each) for each in parameters_of(optimizer) if each.grad is None}
        before = self._without.get(id(optimizer))
        self._without[id(optimizer)] = without
        if before is not None and without <= before:
            return
        lacking = forgotten_by(optimizer)
        if lacking.parameters and lacking.how == "replaced":
            self._exchange(optimizer, lacking.parameters)
        elif lacking.parameters and before is None and not optimizer.state:
            optimizer.param_groups[-1]["params"].extend(lacking.parameters)
        else:
            return
        self._times += 1

    def _exchange(self, optimizer: Any, new: list[Any]) -> None:  # noqa: ANN401 # as above
        """Each in the place of the one that was there, and all that is left beside the first."""
        places = in_place_of(optimizer, new)
        others = (kept for each, kept in optimizer.state.items() if id(each) not in places)
        if any(value is not None for kept in others for value in kept.values()):
            self.keeps_momentum = True
        for group in optimizer.param_groups:
            group["params"] = [one for each in group["params"] for one in places.get(id(each), [each])]
