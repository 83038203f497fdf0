"""An error that came from no pass: the program read the saved values of an op that a pass had freed."""

import traceback
from functools import partial

from gradsan.facts.culprit import Culprit, Named
from gradsan.facts.location import Frame
from gradsan.observe.cells import CELLS
from gradsan.observe.guarding import attempt
from gradsan.observe.naming.saved import read_through
from gradsan.observe.observed import Observed
from gradsan.observe.postmortem import examine_raised
from gradsan.observe.private import private
from gradsan.observe.process import Process
from gradsan.observe.raised import Complain


def observed_reading(error: RuntimeError, process: Process, complain: Complain) -> Observed | None:
    """What was found out about it; None: it is another error."""
    raised = list(traceback.walk_tb(error.__traceback__))
    if raised and raised[-1][0].f_code.co_name == private().engine_name:
        return None  # by a pass of which nothing is sure, and nobody read saved values
    calls = [call for call in raised if process.owns(call[0].f_code.co_filename)]
    read = attempt(partial(read_through, calls), partial(complain, "the name was not found"))
    stack = tuple(Frame(frame.f_code.co_filename, line, frame.f_code.co_qualname) for frame, line in calls)
    incident = examine_raised(str(error), process.passes, stack, None if read is None else read.number)
    if incident is None:
        return None
    name = None if read is None else Named(Culprit(read.name, read.holder), certain=True)
    return Observed((type(error).__name__, str(error)), CELLS.named(incident), name)
