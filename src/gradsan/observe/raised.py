"""An error that is to be explained, handed on before anything is looked at: watching knows nothing of explanations."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradsan.observe.notes import Begun
from gradsan.observe.process import Process

if TYPE_CHECKING:
    from gradsan.observe.observed import Observed

Complain = Callable[[str, BaseException], None]  # what is missing now, and the error of our own that is to blame

_DISTINCTIVE = 80  # characters of a message that tell one kind of error from another


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


# Only when somebody observes is there something to look at: until then, nothing but the standard library is loaded.


def raised_in_pass(
    error: RuntimeError, tensors: tuple[Any, ...], begun: Begun, process: Process, complain: Complain
) -> Raised:
    """By a pass that was asked for some tensors."""

    def observe() -> "Observed | None":
        from gradsan.observe.examining import examined_pass

        return examined_pass(error, tensors, begun, process, complain)

    return Raised(error, (begun.site.line, str(error)[:_DISTINCTIVE]), observe, complain)


def raised_elsewhere(error: RuntimeError, process: Process, complain: Complain) -> Raised:
    """By no pass that is known: a program may read the saved values of an op."""

    def observe() -> "Observed | None":
        from gradsan.observe.reading_saved import observed_reading

        return observed_reading(error, process, complain)

    return Raised(error, None, observe, complain)
