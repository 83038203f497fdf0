"""The reference run in which all that was computed from parameters is computed again once they have changed."""

from collections.abc import Iterable
from typing import Any

from gradsan.observe.reference_runs.asked import INPUTS, Asked
from gradsan.observe.reference_runs.calls import follow, mapped
from gradsan.observe.reference_runs.kept import Kept
from gradsan.observe.reference_runs.worksheet import Worksheet


class Again(Kept):
    """A value that was computed from parameters is computed again when it is used, where they have changed since.

    Where that cannot be done, the reference is stale.
    """

    def __init__(self, read_again: Iterable[int] = ()) -> None:
        super().__init__()
        self._sheet = Worksheet(read_again)
        follow(self._sheet.call)

    @property
    def noted(self) -> Iterable[int]:
        """The calls that were made again."""
        return self._sheet.made_again

    def run(self, engine: Any, tensors: Any, args: list[Any], named: dict[str, Any]) -> Any:  # noqa: ANN401 # as the engine has it
        """Ask for the gradients of the present loss."""
        self._sheet.notice()
        tensors = mapped(self._sheet.present, tuple(tensors))
        if len(args) > INPUTS:
            args[INPUTS] = mapped(self._sheet.present, args[INPUTS])
        return super().run(engine, tensors, args, mapped(self._sheet.present, named))

    def before(self, pass_: Asked) -> None:
        """See whether old values are left."""
        super().before(pass_)
        self.is_stale = self.is_stale or self._sheet.is_torn

    def after_step(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """Values of what it trains are old now."""
        super().after_step(optimizer)
        self._sheet.notice()
