"""What a program does not say about its gradients, though a fix has to mean one thing: the choice is its author's."""

from dataclasses import dataclass

from gradsan.causes.meaning import Meaning
from gradsan.fix.judging.accumulated import is_accumulated
from gradsan.fix.judging.adapted import is_adapted
from gradsan.fix.judging.orders import comes_in_random_order, is_recurrent
from gradsan.fix.judging.shared_targets import is_also_a_target
from gradsan.fix.places.own_reset import left_open
from gradsan.fix.reading.averages import averaging
from gradsan.fix.reading.program import Program

_OF_AN_AVERAGE = "only its author knows whether the average is a constant, or this step's part of it is trained"

_OF_SEVERAL_PASSES = "only its author knows whether each backward() was to have a step of its own"
_OF_A_TARGET = "only its author knows whether both losses are to have the same values, from before the step"


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What is open, in a clause; `other`: only where a run of that meaning trains as much, and otherwise."""

    why: str
    other: Meaning | None = None


def unsaid(program: Program, meaning: Meaning) -> Unsaid | None:
    """What else could be meant than a meaning; None: the program says it, or it makes no difference."""
    begins_again = _what_may_begin_again(program) if meaning == "cut" else None
    if begins_again is not None:
        return Unsaid(begins_again)
    if meaning in ("again", "beside") and is_also_a_target(program):
        return Unsaid(_OF_A_TARGET)
    if meaning == "gathered" and not is_accumulated(program):
        return Unsaid(_OF_SEVERAL_PASSES)
    is_average = meaning in ("cut", "beside") and averaging(program) is not None
    return Unsaid(_OF_AN_AVERAGE, "stored") if is_average else None


def _what_may_begin_again(program: Program) -> str | None:
    """Why a step may not be meant to begin with what the one before it left, in a clause; None: nothing says so."""
    written = left_open(program)
    if written is not None:
        return written
    if is_adapted(program):
        return f"only its author knows whether `{program.name}` is to be carried on, or adapted in each step alone"
    if comes_in_random_order(program) and is_recurrent(program) and averaging(program) is None:
        return f"the batches come in a random order, and only its author knows what `{program.name}` is to carry on"
    return None
