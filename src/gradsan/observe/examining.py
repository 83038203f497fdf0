"""An error, looked at from all sides: the incident, the name, what was tried, what the live program tells.

One is found after the other, and an explanation does without: what goes wrong is complained of, and left out.
"""

from functools import partial
from types import FrameType, TracebackType
from typing import Any

from gradsan.facts.culprit import Culprit, Named
from gradsan.facts.incident import Incident
from gradsan.facts.live_evidence import NOTHING_READ, LiveEvidence
from gradsan.observe.cells import CELLS
from gradsan.observe.failure.scene import Scene
from gradsan.observe.guarding import attempt
from gradsan.observe.live_evidence import live_evidence
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.naming.culprits import Witness, named
from gradsan.observe.notes import Begun
from gradsan.observe.observed import Observed, Unrecorded
from gradsan.observe.passes import Passes
from gradsan.observe.postmortem import examine
from gradsan.observe.raised import Complain
from gradsan.observe.reading_saved import observed_reading
from gradsan.observe.recording import recorded
from gradsan.observe.steps import Steps
from gradsan.observe.surroundings import surrounded
from gradsan.observe.tried import tried

_CHECKPOINT = "torch/utils/checkpoint.py"


class Examiner:
    """What is at hand when something has failed in a process that is watched. Nothing of an error is kept."""

    def __init__(self, recorder: LineRecorder, passes: Passes, steps: Steps, complain: Complain) -> None:
        self._recorder = recorder
        self._owns = recorder.ownership.owns
        self._passes = passes
        self._steps = steps
        self._complain = complain

    def of_pass(self, error: RuntimeError, tensors: tuple[Any, ...], begun: Begun) -> Observed | None:
        """What was found out about the error of a pass; None: gradsan does not explain that kind."""
        frames = _frames(error.__traceback__)
        scene = Scene(
            tensors=tensors,
            note=self._passes.note(begun),
            passes=self._passes,
            steps=self._steps,
            lines=self._recorder.lines(),
            in_checkpoint=any(_CHECKPOINT in each.f_code.co_filename.replace("\\", "/") for each in frames),
        )
        incident = examine(str(error), scene)
        if incident is None:
            return None
        witness = Witness(tensors, frames, scene.lines, self._owns)
        incident, name = self._named(incident, witness)
        look = partial(tried, incident, None if name is None else name.culprit.name, witness.lines)
        beliefs = attempt(look, partial(self._complain, "what was tried was not found")) or ()
        incident = CELLS.named(surrounded(incident))

        def live_of(culprit: Culprit | None) -> LiveEvidence:
            read = partial(live_evidence, incident, culprit, frames, scene, self._owns)
            return attempt(read, partial(self._complain, "the live program was not read")) or NOTHING_READ

        unrecorded = self._unrecorded(begun)
        return Observed(
            error=(type(error).__name__, str(error)),
            incident=incident,
            named=name,
            tried=beliefs,
            live=live_of(None if name is None else name.culprit) if unrecorded is None else NOTHING_READ,
            recording=attempt(partial(recorded, incident, scene), partial(self._complain, "no fix was rehearsed")),
            unrecorded=unrecorded,
            live_of=live_of,
        )

    def of_reading(self, error: RuntimeError) -> Observed | None:
        """The same of an error that came from no pass: a program may read the saved values of an op."""
        return observed_reading(error, self._passes, self._owns, self._complain)

    def _named(self, incident: Incident, witness: Witness) -> tuple[Incident, Named | None]:
        complain = partial(self._complain, "the name was not found")
        return attempt(partial(named, incident, witness), complain) or (incident, None)

    def _unrecorded(self, begun: Begun) -> Unrecorded | None:
        calls = begun.caller.calls
        if not calls or self._recorder.records(calls[-1][0]):
            return None
        why = None if self._recorder.recording else self._recorder.provenance
        return Unrecorded(calls[-1][0].co_filename, why)


def _frames(trace: TracebackType | None) -> list[FrameType]:
    """The frames that an exception went through, and those that had called them."""
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    above = frames[0].f_back if frames else None
    while above is not None:
        frames.insert(0, above)
        above = above.f_back
    return frames
