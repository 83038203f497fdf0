"""Edits that are chosen and made within a budget: a program may be such that making one takes hours."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from gradsan.check.workers import Exceeded, within_budget
from gradsan.fix.proposing import Edits, candidates
from gradsan.fix.ranking import ranked
from gradsan.fix.reading.program import Program
from gradsan.fix.search import searched
from gradsan.report import Fix, FixKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InTime(Generic[T]):
    """What was found within the budget of time and memory."""

    found: tuple[T, ...]
    exceeded: str = ""  # why nothing was


def ranked_in_time(fixes: tuple[Fix, ...], program: Program) -> InTime[Fix]:
    """The fixes in the order of their cause, which asks the source of the program."""
    return _in_time(lambda: ranked(fixes, program))


def made_in_time(kind: FixKind, program: Program, *, most: int) -> InTime[Edits]:
    """Every change that makes a fix of a kind, up to a number, best first."""
    return _in_time(lambda: tuple(islice(candidates(kind, program), most)))


def searched_in_time(kind: FixKind, program: Program, *, most: int) -> InTime[Edits]:
    """Every change that a trial may prove to be that fix, up to a number, the most local first."""
    return _in_time(lambda: tuple(islice(searched(kind, program), most)))


def _in_time(find: Callable[[], tuple[T, ...]]) -> InTime[T]:
    answer = within_budget(find)
    return InTime((), answer.why) if isinstance(answer, Exceeded) else InTime(answer)
