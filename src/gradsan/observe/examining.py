"""An error of a pass, looked at from all sides: the incident, the name, what was tried, what the live program holds.

One is found after the other, and an explanation does without: what goes wrong is complained of, and left out.
"""

from dataclasses import replace
from functools import partial
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

from gradsan.observe.cells import CELLS
from gradsan.observe.evidence import Evidence
from gradsan.observe.failure.scene import Scene
from gradsan.observe.guarding import attempt
from gradsan.observe.log.frames import frames_out
from gradsan.observe.naming.culprits import named
from gradsan.observe.notes import Begun
from gradsan.observe.observed import Observed, Unrecorded
from gradsan.observe.postmortem import examine
from gradsan.observe.process import Process
from gradsan.observe.raised import Complain
from gradsan.observe.surroundings import surrounded


def examined_pass(
    error: RuntimeError, tensors: tuple[Any, ...], begun: Begun, process: Process, complain: Complain
) -> Observed | None:
    """What was found out about the error of a pass; None: gradsan does not explain that kind."""
    scene = Scene(tensors, _frames(error.__traceback__), process.passes.note(begun), process)
    found = examine(str(error), scene)
    if found is None:
        return None
    complain_of_name = partial(complain, "the name was not found")
    incident, name = attempt(lambda: named(found, scene), complain_of_name) or (found, None)
    culprit = None if name is None else name.culprit
    beliefs = Evidence(incident, scene, complain).tried(culprit)
    incident = CELLS.named(surrounded(incident))
    unrecorded, evidence = _unrecorded(begun, process), Evidence(incident, scene, complain)
    observed = Observed(
        error=(type(error).__name__, str(error)),
        incident=incident,
        named=name,
        tried=beliefs,
        recording=evidence.recording(),
        unrecorded=unrecorded,
        graph=evidence.graph(culprit) if process.is_detailed else None,
        live_of=evidence.live,
    )
    return observed if unrecorded is not None else replace(observed, live=evidence.live(culprit))


def _unrecorded(begun: Begun, process: Process) -> Unrecorded | None:
    calls, recorder = begun.caller.calls, process.recorder
    if not calls or recorder.records(calls[-1][0]):
        return None
    return Unrecorded(calls[-1][0].co_filename, None if recorder.recording else recorder.provenance)


def _frames(trace: TracebackType | None) -> list[FrameType]:
    """The frames that an exception went through, and those that had called them; outermost first."""
    raised = [frame for frame, _ in walk_tb(trace)]
    callers = frames_out(raised[0].f_back) if raised else []
    return [*reversed(callers), *raised]
