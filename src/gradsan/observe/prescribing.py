"""What a diagnosis says about mending the program: facts of the live program, rehearsals, edits.

A story does without any of them: whatever goes wrong here is told in a line, and the diagnosis stays as it was.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from gradsan.observe.guarding import is_ours
from gradsan.report import Diagnosis

if TYPE_CHECKING:
    from gradsan.facts.incident import Incident
    from gradsan.observe.failure.scene import Scene


class Prescriber:
    """One in a process; `complain` hears what went wrong, and of which error."""

    def __init__(self, owns: Callable[[str], bool], complain: Callable[[str, BaseException], None]) -> None:
        self._owns = owns
        self._complain = complain
        self._began = time.time()  # a file that changed since is not what runs

    def rehearsed(
        self, diagnosis: Diagnosis, incident: "Incident", frames: list[FrameType], scene: "Scene"
    ) -> Diagnosis:
        """With what the live program tells of where to mend it, and what each fix would do."""
        from gradsan.fix.what_if import foretell
        from gradsan.observe.live_evidence import evidence
        from gradsan.observe.recording import recorded

        try:
            found = evidence(incident, diagnosis.culprit, frames, scene, self._owns)
            diagnosis = replace(diagnosis, evidence={**diagnosis.evidence, **found})
            recording = recorded(incident, scene)
            return diagnosis if recording is None else foretell(diagnosis, recording)
        except BaseException as error:
            if not is_ours(error):
                raise
            self._complain("no fix was rehearsed", error)
            return diagnosis

    def with_edits(self, diagnosis: Diagnosis) -> Diagnosis:
        """With the edits that mend it; a fix without one still has its title."""
        try:
            from gradsan.fix.proposing import with_edits

            return with_edits(diagnosis, Path.cwd(), not_after=self._began)
        except BaseException as error:
            if not is_ours(error):
                raise
            self._complain("no edit was made", error)
            return diagnosis
