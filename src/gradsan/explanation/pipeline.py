"""From what was observed to what is shown: causes tell what it is, `fix/` what each remedy would do and how to make it.

An explanation does without effects and without edits: whatever goes wrong there is complained of in a line, and the
diagnosis stays as it was.
"""

import linecache
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from gradsan.causes.diagnosing import diagnose
from gradsan.causes.silence import places_of, silent_diagnoses
from gradsan.check.suppressions import silenced
from gradsan.explanation.findings import Conclusion
from gradsan.explanation.from_source import completed_from_source
from gradsan.explanation.reported_files import as_reported
from gradsan.facts.course import Course
from gradsan.facts.live_evidence import NOTHING_READ, LiveEvidence
from gradsan.lifecycle.recording import Recording
from gradsan.observe.cells import CELLS
from gradsan.observe.guarding import attempt
from gradsan.observe.observed import Observed
from gradsan.observe.raised import Complain
from gradsan.report import Diagnosis, RaisedError, Summary
from gradsan.source.comments import Comment, comments_in, comments_in_cells
from gradsan.source.disk import notebook_at


def diagnosed(observed: Observed, complain: Complain, began: float) -> tuple[Diagnosis, LiveEvidence]:
    """The diagnosis of an error, and what its edits depend on besides.

    `began`: when the run did; a file that changed since is not what runs.
    """
    beliefs = tuple(dict.fromkeys(each.sentence for each in observed.tried))
    found = diagnose(observed.incident, RaisedError(*observed.error), observed.named, beliefs)
    live = observed.live
    if observed.unrecorded is not None:
        found = completed_from_source(found, observed.unrecorded)
        live = observed.live_of(found.culprit)
    live = as_reported(live, observed.tried)
    if observed.recording is not None:
        found = _predicted(found, observed.recording, complain)
    return edited(found, complain, began, live), live


def concluded(
    course: Course, wants: Callable[[str], bool], complain: Complain, began: float, known: Collection[str] = ()
) -> Conclusion:
    """What a run did, and what was wrong with it that never raised, but for what is `known` by its fingerprint."""
    summary = Summary(
        passes=course.passes,
        steps=course.steps,
        ops=course.ops,
        peak_saved_bytes=course.peak_saved_bytes,
        retained_bytes=course.retained_bytes,
    )
    found = [each for each in silent_diagnoses(course, wants) if each.fingerprint not in known]
    files = {frame.file for each in found for frame in places_of(each)}
    reported = silenced(found, {file: _comments(file) for file in files}).reported
    silent = tuple(edited(each, complain, began) for each in reported)
    return Conclusion(summary, silent, course.timeline, course.graph)


def _comments(file: str) -> list[Comment]:
    """Those of a file, a cell or a notebook, as it was when it ran."""
    notebook = notebook_at(file)
    if notebook is not None:
        return comments_in_cells(file, notebook)
    return comments_in(file, "".join(linecache.getlines(file)))


def edited(diagnosis: Diagnosis, complain: Complain, began: float, live: LiveEvidence = NOTHING_READ) -> Diagnosis:
    """With the edits that fix it; a fix without one still has its title."""
    try:
        root = Path.cwd()
    except OSError:  # it is gone: no file lies there that could be edited
        return diagnosis

    def act() -> Diagnosis:
        from gradsan.fix.proposing import with_edits

        places = places_of(diagnosis)
        files = {place.file for place in places} | {frame.file for place in places for frame in place.stack}
        cells = {file: text.encode() for file, text in CELLS.texts(files).items()}
        return with_edits(diagnosis, root, not_after=began, live=live, changed=cells, anywhere=True)

    return attempt(act, partial(complain, "no edit was made")) or diagnosis


def _predicted(diagnosis: Diagnosis, recording: Recording, complain: Complain) -> Diagnosis:
    """With what each fix would do, and those that would not help last."""

    def act() -> Diagnosis:
        from gradsan.fix.what_if import predict

        return predict(diagnosis, recording)

    return attempt(act, partial(complain, "no fix was rehearsed")) or diagnosis
