"""What becomes of an error: its explanation on the exception itself, and a finding of the run.

Nothing but the standard library is loaded until there is something to explain: the pipeline is imported then.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradsan.explanation.expected_errors import is_expected
from gradsan.explanation.explanation_budget import Patience
from gradsan.explanation.findings import Conclusion, Findings
from gradsan.facts.details import MOST_GRAPHS, OpGraph
from gradsan.observe.guarding import attempt
from gradsan.observe.raised import Complain, Raised
from gradsan.report import Diagnosis

if TYPE_CHECKING:
    from gradsan.facts.course import Course
    from gradsan.facts.live_evidence import LiveEvidence

_OURS = "__gradsan__"  # where an exception keeps its diagnosis
_ANYWHERE = 68  # columns: logs, boxes, notebooks and pytest have 80, and take up to 12 for themselves


def diagnosis_on(error: BaseException) -> Diagnosis | None:
    """The diagnosis that an exception carries."""
    found = getattr(error, _OURS, None)
    return found if isinstance(found, Diagnosis) else None


class Explainer:
    """One in a process. `wants` says of a code whether it is to be explained.

    `share`: how much of the run's time explaining the same failure again may take, where that is limited.
    """

    def __init__(
        self,
        wants: Callable[[str], bool] = lambda _: True,
        *,
        verbose: bool = False,
        share: float | None = None,
        named: Callable[[Diagnosis], Diagnosis] = lambda each: each,
    ) -> None:
        self._wants = wants
        self._named = named  # adds, to what is shown, which of several processes this is
        self._verbose = verbose  # also the path through the graph, and memory
        self._found = Findings()
        self.live: dict[str, LiveEvidence] = {}  # what was read from the live program, by the fingerprint of its error
        self.graphs: dict[str, OpGraph] = {}  # likewise, for a page
        self.listeners = [self._found]  # each is given every diagnosis
        self.surroundings: list[Callable[[], str]] = []  # what trainers say of where they are, in a sentence
        self._patience = Patience() if share is None else Patience(share=share)
        self._began = time.time()

    @property
    def diagnoses(self) -> list[Diagnosis]:
        """All that were made, also of errors that the program caught."""
        return list(self._found)

    def explain(self, raised: Raised) -> None:
        """Put the explanation on an error, where it has none yet."""
        if diagnosis_on(raised.error) is not None:
            return
        diagnosis = self._patience.explain(raised.place, lambda: self._explained(raised))
        if diagnosis is not None and self._wants(diagnosis.code):
            self._attach(raised.error, diagnosis)

    def conclude(self, course: "Course | None", complain: Complain, known: Collection[str] = ()) -> Conclusion:
        """What there is to say of a run; `known`: the fingerprints of what was said of it before."""
        if course is None:
            return Conclusion()
        from gradsan.explanation.pipeline import concluded

        return concluded(course, self._wants, complain, self._began, known)

    def fit(self, error: BaseException, *, width: int, color: bool, letters: Callable[[str], str]) -> None:
        """Let the note on an error fit the screen that it is about to be printed on; `letters`: those it can show."""
        diagnosis, notes = diagnosis_on(error), getattr(error, "__notes__", None)
        if diagnosis is None or type(notes) is not list:
            return
        plain = self.note(diagnosis)
        if plain in notes:
            notes[notes.index(plain)] = letters(self.note(diagnosis, width, color=color))

    def shorten(self, error: BaseException, line: str) -> None:
        """Put a line in the place of the note on an error, which is explained elsewhere."""
        diagnosis, notes = diagnosis_on(error), getattr(error, "__notes__", None)
        if diagnosis is not None and type(notes) is list:
            notes[:] = [f"\n{line}" if each == self.note(diagnosis) else each for each in notes]

    def note(self, diagnosis: Diagnosis, width: int = _ANYWHERE, *, color: bool = False) -> str:
        """What is put on an exception: readable wherever it is printed, unless a width is given."""
        from gradsan.show.text import explanation

        named = self._named(diagnosis)
        return "\n" + explanation(named, width=width, color=color, verbose=self._verbose).rstrip()

    def _explained(self, raised: Raised) -> Diagnosis | None:
        observed = raised.observe()
        if observed is None:
            return None
        from gradsan.explanation.pipeline import diagnosed

        diagnosis, live = diagnosed(observed, raised.complain, self._began)
        said = (attempt(each, partial(raised.complain, "a trainer is not asked")) for each in self.surroundings)
        diagnosis = replace(diagnosis, notes=(*diagnosis.notes, *filter(None, said)))
        self.live.setdefault(diagnosis.fingerprint, live)
        if observed.graph is not None and len(self.graphs) < MOST_GRAPHS:
            self.graphs.setdefault(diagnosis.fingerprint, observed.graph)
        return diagnosis

    def _attach(self, error: RuntimeError, diagnosis: Diagnosis) -> None:
        if not is_expected(error):
            error.add_note(self.note(diagnosis))
        setattr(error, _OURS, diagnosis)
        for each in self.listeners:
            each.add(diagnosis)
