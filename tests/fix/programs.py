"""Small programs in a folder, and diagnoses of them made by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gradsan.facts.held import TENSOR, Held
from gradsan.facts.live_evidence import Access, Alive, LiveEvidence
from gradsan.facts.location import Frame, Location
from gradsan.fix.proposing import Edits, candidates
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.editing import edited
from gradsan.report import Culprit, Diagnosis, FixKind

MAIN = "train.py"


def live(
    held: Held = TENSOR, reached_as: str = "", beside: Sequence[str] = (), reached_in: str = "main"
) -> LiveEvidence:
    """What a run has seen under the name, and how a function would write it."""
    access = Access(reached_as, reached_in, tuple(beside)) if reached_as else None
    return LiveEvidence(Alive(held, access))


A_TENSOR = live()


class Case:
    """One file, whose lines are named by their text."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        self.lines = source.splitlines()
        (folder / MAIN).write_text(source, encoding="utf-8")

    def at(self, *texts: str, function: str = "main", inner: str = "") -> Location:
        """The place that a call chain leads to: each line by a text it has, outermost first."""
        numbers = [next(n for n, line in enumerate(self.lines, 1) if text in line) for text in texts]
        names = [function, *(inner or f"inner_{n}" for n in range(1, len(texts)))]
        stack = tuple(Frame(MAIN, number, name) for number, name in zip(numbers, names, strict=True))
        last = numbers[-1]
        return Location(MAIN, last, function=names[-1], source=self.lines[last - 1].strip(), stack=stack)

    def diagnosis(
        self,
        code: str,
        name: str | None = None,
        *,
        evidence: Mapping[str, int | float | str] | None = None,
        **places: Location,
    ) -> Diagnosis:
        """A diagnosis of an error in this program."""
        return Diagnosis(
            code=code,
            name="made-by-hand",
            severity="error",
            origin="run",
            confidence="certain",
            message="",
            culprit=None if name is None else Culprit(name, "local"),
            evidence=evidence or {},
            **places,  # type: ignore[arg-type] # roles only
        )

    def program(self, diagnosis: Diagnosis, seen: LiveEvidence = A_TENSOR) -> Program:
        """As the diagnosis speaks of it; its run has seen a tensor under the name, or what is said."""
        return Program(diagnosis, self.folder, live=seen)

    def fixed(self, kind: FixKind, diagnosis: Diagnosis, seen: LiveEvidence = A_TENSOR) -> str | None:
        """The program after the first edit of that kind; None where there is none."""
        edits = next(candidates(kind, self.program(diagnosis, seen)), None)
        return None if edits is None else self.applied(edits)

    def applied(self, edits: Edits) -> str:
        """The program with these edits."""
        lines = (self.folder / MAIN).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(edited(lines, edits))
