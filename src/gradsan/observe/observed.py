"""What observing hands on when a program has met an error: plain values."""

from collections.abc import Callable
from dataclasses import dataclass

from gradsan.facts.culprit import Culprit, Named
from gradsan.facts.details import OpGraph
from gradsan.facts.incident import Incident
from gradsan.facts.live_evidence import NOTHING_READ, LiveEvidence, Tried
from gradsan.lifecycle.recording import Recording


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """The failing line stands in code whose lines were not recorded."""

    file: str
    why: str | None  # no lines are recorded at all, because of this; None: others are


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was found out about an error."""

    error: tuple[str, str]  # its class and its message
    incident: Incident
    named: Named | None = None
    tried: tuple[Tried, ...] = ()
    live: LiveEvidence = NOTHING_READ
    recording: Recording | None = None  # to be replayed with one thing changed; None: it cannot be
    unrecorded: Unrecorded | None = None
    graph: OpGraph | None = None  # for a page; None: nobody asked for it
    # Where lines were not recorded, the name comes from the source, and the live program can be asked for it then.
    live_of: Callable[[Culprit | None], LiveEvidence] = lambda _: NOTHING_READ
