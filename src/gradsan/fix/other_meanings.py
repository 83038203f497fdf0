"""What a program does not say about its gradients, though a fix has to mean one thing: the choice is its author's."""

from dataclasses import dataclass

from gradsan.causes.meaning import Meaning
from gradsan.fix.adapted import is_adapted
from gradsan.fix.averages import averaging
from gradsan.fix.own_reset import left_open
from gradsan.fix.program import Program

_OF_AN_AVERAGE = "only its author knows whether the average is a constant, or this step's part of it is trained"


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What is open, in a clause; `other`: only where a run of that meaning trains as much, and otherwise."""

    why: str
    other: Meaning | None = None


def unsaid(program: Program, meaning: Meaning) -> Unsaid | None:
    """What else could be meant than a meaning; None: the program says it, or it makes no difference."""
    begins_again = left_open(program) if meaning == "cut" else None
    if begins_again is not None:
        return Unsaid(begins_again)
    if meaning == "cut" and is_adapted(program):
        return Unsaid(
            f"only its author knows whether `{program.name}` is to be carried on, or adapted in each step alone"
        )
    is_average = meaning in ("cut", "beside") and averaging(program) is not None
    return Unsaid(_OF_AN_AVERAGE, "stored") if is_average else None
