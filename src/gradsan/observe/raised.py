"""An error that is to be explained, handed on before anything is looked at: watching knows nothing of explanations."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradsan.observe.observed import Observed

Complain = Callable[[str, BaseException], None]  # what is missing now, and the error of our own that is to blame


@dataclass(frozen=True, slots=True)
class Raised:
    """An error of the program's, and how to find out more about it."""

    error: RuntimeError
    place: Hashable  # where it was raised, and how: one line may fail in every step; None: it came from no pass
    observe: "Callable[[], Observed | None]"  # None: it is of no kind that gradsan explains, or not enough is known
    complain: Complain


Explain = Callable[[Raised], None]


def explain_nothing(_: Raised) -> None:
    """For whoever only watches."""
