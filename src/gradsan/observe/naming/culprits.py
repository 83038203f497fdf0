"""What the log and the live objects tell of an incident: the name that its explanation is about, the edit, the cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from gradsan.facts.culprit import Culprit, Named
from gradsan.facts.incident import Donated, Edited, Incident, OpFact, SecondPass, WithoutHistory
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.cuts import COMPARISON, GRADIENT
from gradsan.observe.naming.editing import edit_behind
from gradsan.observe.naming.layers import layer_behind
from gradsan.observe.naming.losing import loss_of_history
from gradsan.observe.naming.names import Crossing, carrier
from gradsan.observe.naming.subject import Subject, holder_of, subject_of
from gradsan.source.scopes import scope_of
from gradsan.source.stores import buffers


@dataclass(frozen=True, slots=True)
class Witness:
    """What can be asked when a pass has failed. Nothing of it is kept."""

    tensors: Sequence[Any]  # what the pass was asked for
    frames: Sequence[FrameType]  # the live ones, outermost first
    lines: Lines | None
    owns: Callable[[str], bool]

    def subject(self) -> Subject | None:
        """What the pass was asked for, as it is written."""
        return subject_of(self.tensors, self.frames, self.owns)

    def subject_without_history(self) -> Subject | None:
        """The same, of several losses the one at which the pass stopped."""
        bare = [each for each in self.tensors if not each.requires_grad]
        return subject_of(bare or self.tensors, self.frames, self.owns)


def named(incident: Incident, witness: Witness) -> tuple[Incident, Named | None]:
    """The incident with all that could be found out, and the name; None where no name is good enough."""
    match incident:
        case SecondPass():
            return incident, _carrier(incident, witness)
        case Edited(by_optimizer=True):
            return incident, _carrier(incident, witness)
        case Edited():
            return _edit(incident, witness)
        case WithoutHistory():
            return _cut(incident, witness)
        case Donated():
            return incident, _named(witness.subject())
    return incident, None


def _carrier(incident: SecondPass | Edited, witness: Witness) -> Named | None:
    """What carried old ops into the failing pass."""
    if incident.enters is None and (subject := witness.subject()) is not None and subject.is_seen:
        return _named(subject)
    crossing = _crossing(incident)
    found = None if crossing is None else carrier(crossing, witness.frames[::-1], witness.lines, owns=witness.owns)
    if found is None and isinstance(incident, Edited):
        return _named(witness.subject())  # all of it was computed before the step
    return None if found is None else Named(Culprit(found.name, found.holder), certain=found.confidence == "certain")


def _edit(incident: Edited, witness: Witness) -> tuple[Incident, Named | None]:
    found = None if witness.lines is None else edit_behind(incident, witness.frames, witness.lines, witness.owns)
    if found is None:
        return _edit_unwritten(incident, witness)
    known = replace(incident, saver=found.saver, changed=found.frames, proved=found.is_proved)
    layer = layer_behind(incident.suspects, found.frames[-1], witness.frames)
    if layer is not None:
        known = replace(known, layer=(layer.name, layer.kind))
        if not layer.is_first:
            return known, Named(Culprit(layer.name, "attribute"), certain=known.proved)
    if found.name is None:
        return known, None
    where = found.frames[-1]
    is_buffer = "." in found.name and found.name.rpartition(".")[2] in buffers(where.file)
    holder = "buffer" if is_buffer else holder_of(found.name, scope_of(where.file, where.function, where.line))
    return known, Named(Culprit(found.name, holder), certain=found.is_proved)


def _edit_unwritten(incident: Edited, witness: Witness) -> tuple[Incident, Named | None]:
    """No line of the user's says that it edits: one may lead to a layer that does."""
    for suspect in incident.suspects:
        for each in (suspect.edit, *suspect.takers):
            layer = None if each is None or not each.stack else layer_behind([suspect], each.stack[-1], witness.frames)
            if each is not None and layer is not None:
                known = replace(incident, saver=suspect.saver, changed=each.stack, layer=(layer.name, layer.kind))
                return known, Named(Culprit(layer.name, "attribute"), certain=False)
    return incident, None


def _cut(incident: WithoutHistory, witness: Witness) -> tuple[Incident, Named | None]:
    subject = witness.subject_without_history()
    found = None if witness.lines is None else loss_of_history(subject, incident.failing.stack, witness.lines)
    if found is None:
        return incident, _named(subject)
    known = replace(incident, cut=found.frames, by=_clause(found.written), proved=found.is_proved)
    if found.name is None:
        return known, _named(subject)
    return known, Named(Culprit(found.name, found.holder), certain=found.is_proved)


def _clause(written: str) -> str:
    return written if written in (COMPARISON, GRADIENT) else f"`{written}`"


def _named(subject: Subject | None) -> Named | None:
    if subject is None or subject.name is None:
        return None
    return Named(Culprit(subject.name, subject.holder), certain=subject.is_seen)


def _crossing(incident: SecondPass | Edited) -> Crossing | None:
    match incident:
        case SecondPass(made=made, enters=enters):
            return _between(incident, made, enters, incident.freeing.begin)
        case Edited(made=OpFact() as made, enters=enters):
            return _between(incident, made, enters, None)
    return None


def _between(incident: SecondPass | Edited, made: OpFact, enters: OpFact | None, freed: int | None) -> Crossing | None:
    if made.number is None:
        return None
    return Crossing(
        made_number=made.number,
        enters_number=None if enters is None else enters.number,
        made=made.stack,
        enters=incident.failing.stack if enters is None else enters.stack,
        enters_op=None if enters is None else enters.name,
        freed_number=freed,
    )
