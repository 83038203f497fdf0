"""What every cause is made of: a page that teaches it, and programs that prove the page."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from gradsan.causes.meaning import OF_KINDS, Meaning
from gradsan.causes.remedy import USUAL, Remedy
from gradsan.facts.course import Course
from gradsan.facts.doubt import SURE
from gradsan.facts.incident import Evidence, Incident, Stack
from gradsan.report import Culprit, FixKind, Severity

Role = Literal["made", "held", "cut", "freed", "changed", "enters", "used"]


@dataclass(frozen=True, slots=True)
class Example:
    """A complete program with the problem, and the same program fixed. The tests run both."""

    program: str
    shows: str  # how PyTorch's error begins, or for a silent cause all that the program prints
    fixed: str
    fixed_shows: str = ""  # all that the fixed program prints


@dataclass(frozen=True, slots=True)
class Tempting:
    """What people try instead, as a change of the example, and its price. The tests run it."""

    program: str
    shows: str  # all that it prints, and how its error begins if it raises
    price: str  # what is wrong with it, though it may look like a cure


Places = dict[Role, tuple[Stack, int | None]]  # each with its step, where that says something


@dataclass(frozen=True, slots=True)
class Finding:
    """A case of a cause: what a diagnosis is made of, but for the texts of the places."""

    sentence: str  # what happens, in one sentence a beginner understands
    kinds: tuple[FixKind, ...]  # of fix, the best first
    places: Places
    culprit: Culprit | None = None
    doubt: int = SURE
    evidence: Mapping[str, int | float | str | None] = field(default_factory=dict)  # None: not known
    notes: tuple[str, ...] = ()
    costs_bytes: int | None = None  # None: it spoils the training, which is worse than any memory
    count: int | None = None  # how often it happened; None: nobody counted


class Cause:
    """One cause for which a graph's life goes wrong.

    The docstring of a cause is the first part of its page: what happened, and why PyTorch reacts as it does.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]  # one line for the table of codes
    example: ClassVar[Example]
    fix: ClassVar[str]  # what ends it
    unless: ClassVar[str]  # when that is the wrong thing to do, and what to do then
    tempting: ClassVar[Tempting]
    # What the places of a diagnosis are to the explanation, in the order of time. A cause may say it in better words,
    # or in another order. `{call}` is what the line calls: `backward()` where it says so.
    roles: ClassVar[dict[Role, str]] = {
        "made": "created here",
        "held": "kept here",
        "cut": "its graph is cut off here",
        "freed": "freed by this {call}",
        "changed": "changed here",
        "enters": "used again here",
        "used": "this {call} needs it, but it is gone",
    }

    titles: ClassVar[dict[FixKind, str]] = {}  # what a kind of fix asks for here: see `causes/titles.py`
    # For a silent cause: kinds of fix that leave every gradient as it is.
    keeping_gradients: ClassVar[frozenset[FixKind]] = frozenset()
    # What a kind of fix means for the gradients here, where it is not what it means elsewhere: see `causes/meaning.py`.
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {}

    # What a kind of fix is here, where it is not what it is elsewhere: see `causes/remedy.py`.
    own_remedies: ClassVar[Mapping[FixKind, Remedy]] = {}
    # For whoever reads the source to fix it: the old part of the path was not freed, but is live.
    old_part_is_live: ClassVar[bool] = False

    # For a silent cause: a run counts what it is about, so that what it has not found did not happen.
    counted_in_runs: ClassVar[bool] = False
    # Likewise: what it costs is memory that grows from step to step, and a run with the fix shows that it does not.
    grows: ClassVar[bool] = False

    # Its place among the questions that tell the causes of an error apart: contexts that change the answer come first.
    # None: no error of PyTorch's has this cause.
    asked: ClassVar[int | None] = None

    @classmethod
    def explains(cls, incident: Incident) -> bool:  # noqa: ARG003 # each cause reads it in its own way
        """Whether this is what happened, given that no cause asked before it is."""
        return False

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # likewise
        """What happened, in one sentence a beginner understands; `name` is what the user would write."""
        return cls.summary

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # likewise
        """The kinds of fix that end it, the best first."""
        return ("advice",)

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:  # noqa: ARG003 # likewise
        """What a kind of fix is for this cause: about what, in which places, and when it is the first choice."""
        return cls.own_remedies.get(kind, USUAL[kind])

    @classmethod
    def notes(cls, incident: Incident) -> tuple[str, ...]:  # noqa: ARG003 # likewise
        """What else the reader should know, as things are."""
        return ()

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:  # noqa: ARG003 # likewise
        """For a silent cause: everything in the course of a program that is a case of it."""
        yield from ()

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:  # noqa: ARG003 # likewise
        """What a kind of fix means for the gradients, where this cause asks for it first."""
        usual: Meaning = "same" if kind in cls.keeping_gradients else OF_KINDS[kind]
        return cls.meanings.get(kind, usual)

    @classmethod
    def explanation(cls) -> tuple[str, ...]:
        """The docstring as paragraphs, each one line of text."""
        text = inspect.getdoc(cls) or ""
        return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
