"""What else a failing process shows about an incident; what goes wrong in reading it is complained of, and left out."""

from dataclasses import dataclass
from functools import partial

from gradsan.facts.culprit import Culprit
from gradsan.facts.details import OpGraph
from gradsan.facts.incident import Incident
from gradsan.facts.live_evidence import NOTHING_READ, LiveEvidence, Tried
from gradsan.lifecycle.recording import Recording
from gradsan.observe.details.failing_graph import failing_graph
from gradsan.observe.failure.scene import Scene
from gradsan.observe.guarding import attempt
from gradsan.observe.live_evidence import live_evidence
from gradsan.observe.observed_life import recorded
from gradsan.observe.raised import Complain
from gradsan.observe.tried import tried


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one incident."""

    incident: Incident
    scene: Scene
    complain: Complain

    def tried(self, culprit: Culprit | None) -> tuple[Tried, ...]:
        """What was done already, and does not help."""
        read = partial(tried, self.incident, None if culprit is None else culprit.name, self.scene.lines)
        return attempt(read, partial(self.complain, "what was tried was not found")) or ()

    def live(self, culprit: Culprit | None) -> LiveEvidence:
        """What the program holds."""
        read = partial(live_evidence, self.incident, culprit, self.scene)
        return attempt(read, partial(self.complain, "the live program was not read")) or NOTHING_READ

    def recording(self) -> Recording | None:
        """What can be replayed with one thing changed; None: nothing can."""
        return attempt(partial(recorded, self.incident, self.scene), partial(self.complain, "no fix was rehearsed"))

    def graph(self, culprit: Culprit | None) -> OpGraph | None:
        """The graph of the failing pass, as a page shows it."""
        read = partial(failing_graph, self.incident, culprit, self.scene)
        return attempt(read, partial(self.complain, "the graph is not shown"))
