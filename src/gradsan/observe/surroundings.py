"""The calls around an explanation that the log does not know.

What was running on Python 3.11 when gradsan was installed is not recorded, and stays around all that it calls. The
interpreter has it on the stack of every pass, the log on none: whoever compares the two must find it on both.
"""

from functools import partial
from typing import Any, TypeVar

from gradsan.facts.incident import Incident, ReadAfterFree, Stack
from gradsan.facts.location import Frame
from gradsan.observe.rebuilding import rebuilt

T = TypeVar("T")


def surrounded(incident: Incident) -> Incident:
    """The same facts, each stack with the calls around it as the failing pass has them."""
    if isinstance(incident, ReadAfterFree):
        return incident
    return surrounded_by(incident, incident.failing.stack)


def surrounded_by(facts: T, around: Stack) -> T:
    """The same facts, each stack in them with the calls that lie around it on this one."""
    found: T = _surrounded(facts, around)
    return found


def _surrounded(facts: Any, around: Stack) -> Any:  # noqa: ANN401 # dataclasses and tuples of them, at any depth
    match facts:
        case (Frame() as outermost, *_):
            return (*around[: _depth(outermost, around)], *facts)
        case Frame():
            return facts
    return rebuilt(facts, partial(_surrounded, around=around))


def _depth(outermost: Frame, around: Stack) -> int:
    """How many calls lie around the function that a stack begins with; none that is known, if it runs no more."""
    functions = [(each.file, each.function) for each in around]
    where = (outermost.file, outermost.function)
    return functions.index(where) if where in functions else 0
