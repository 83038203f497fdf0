"""What the paths through a file showed together."""

from dataclasses import dataclass, field

from gradsan.check.stopped import Stopped
from gradsan.check.troubles import Misfit
from gradsan.facts.course import Course
from gradsan.facts.held import NOTHING, Held


@dataclass(slots=True)
class Shown:
    """Everything that the paths through a file showed."""

    stopped: list[Stopped] = field(default_factory=list)
    courses: list[Course] = field(default_factory=list)  # for each start of which there is something to say
    drawn_in: set[str] = field(default_factory=set)  # files that were read on the path
    revealed: Held = NOTHING  # what the expressions may be that somebody asked about
    misfits: set[Misfit] = field(default_factory=set)
    trained: set[str] = field(default_factory=set)  # the parameters that some pass gave a gradient
    complete: bool = True
