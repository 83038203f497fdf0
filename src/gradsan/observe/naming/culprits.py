"""What the log and the live objects show of an incident: the name that its explanation is about, the edit, the cut."""

from dataclasses import replace

from gradsan.facts.culprit import Culprit, Named
from gradsan.facts.incident import (
    Donated,
    Edited,
    Incident,
    OpFact,
    Owners,
    Repetition,
    SecondPass,
    WithoutHistory,
)
from gradsan.observe.failure.scene import Scene
from gradsan.observe.naming.carriers import carrier
from gradsan.observe.naming.cuts import clause
from gradsan.observe.naming.found_edits import edit_behind
from gradsan.observe.naming.inplace_layers import layer_behind
from gradsan.observe.naming.line_names import Crossing
from gradsan.observe.naming.losing import loss_of_graph
from gradsan.observe.naming.subject import Subject, asked_gradient_of, holder_of, subject_of
from gradsan.observe.user_statements import scope_at
from gradsan.source.stores import buffers


def named(incident: Incident, scene: Scene) -> tuple[Incident, Named | None]:
    """The incident with all that could be found out, and the name; None where no name is good enough."""
    match incident:
        case SecondPass(repetition=Repetition(memo=str(memo)), made=made):
            return incident, Named(Culprit(memo, holder_of(memo, scope_at(made.stack[-1]))), certain=True)
        case SecondPass() | Edited(by_optimizer=True):
            return incident, _carrier(incident, scene)
        case Edited():
            return _edit(incident, scene)
        case WithoutHistory():
            return _cut(incident, scene)
        case Donated():
            return incident, _named(_subject(scene))
    return incident, None


def _subject(scene: Scene) -> Subject | None:
    """What the pass was asked for, as it is written."""
    return subject_of(scene.tensors, scene.frames, scene.owns)


def _carrier(incident: SecondPass | Edited, scene: Scene) -> Named | None:
    """What carried old ops into the failing pass."""
    if incident.enters is None and (subject := _subject(scene)) is not None and subject.is_seen:
        return _named(subject)
    crossing = _crossing(incident)
    found = None if crossing is None else carrier(crossing, scene.frames[::-1], scene.lines, scene.owns)
    if found is None and isinstance(incident, Edited):
        return _named(_subject(scene))  # all of it was computed before the step
    return found or _freed_by_gradient(incident)


def _freed_by_gradient(incident: SecondPass | Edited) -> Named | None:
    """No variable carried it from line to line: then it is named by what the gradient was taken of that freed it."""
    if not isinstance(incident, SecondPass) or incident.freeing.kind != "grad" or not incident.freeing.stack:
        return None
    place = incident.freeing.stack[-1]
    name = asked_gradient_of(place)
    return None if name is None else Named(Culprit(name, holder_of(name, scope_at(place))), certain=False)


def _crossing(incident: SecondPass | Edited) -> Crossing | None:
    match incident:
        case SecondPass(owners=Owners(is_teaching=True), made=created, enters=enters, failing=failing):
            return Crossing.between(created, enters, failing.stack, None)  # all was read before anything was freed
        case SecondPass(made=created, enters=enters, failing=failing, freeing=freeing):
            return Crossing.between(created, enters, failing.stack, freeing.begin)
        case Edited(made=OpFact() as created, enters=enters, failing=failing):
            return Crossing.between(created, enters, failing.stack, None)
    return None


def _edit(incident: Edited, scene: Scene) -> tuple[Incident, Named | None]:
    found = edit_behind(incident, scene.frames, scene.lines, scene.owns)
    if found is None:
        return _edit_unwritten(incident, scene)
    known = replace(incident, saver=found.saver, changed=found.frames, proved=found.is_proved)
    where = found.frames[-1]
    layer = layer_behind(incident.suspects, where, scene.frames)
    if layer is not None:
        known = replace(known, layer=(layer.name, layer.kind))
        if not layer.is_first:
            return known, Named(Culprit(layer.name, "attribute"), certain=known.proved)
    if found.name is None:
        return known, None
    is_buffer = "." in found.name and found.name.rpartition(".")[2] in buffers(where.file)
    holder = "buffer" if is_buffer else holder_of(found.name, scope_at(where))
    return known, Named(Culprit(found.name, holder), certain=found.is_proved)


def _edit_unwritten(incident: Edited, scene: Scene) -> tuple[Incident, Named | None]:
    """No line of the user's says that it edits: one may lead to a layer that does."""
    edits = ((suspect, each) for suspect in incident.suspects for each in (suspect.edit, *suspect.takers))
    for suspect, each in edits:
        layer = layer_behind([suspect], each.stack[-1], scene.frames) if each is not None and each.stack else None
        if each is not None and layer is not None:
            known = replace(incident, saver=suspect.saver, changed=each.stack, layer=(layer.name, layer.kind))
            return known, Named(Culprit(layer.name, "attribute"), certain=False)
    return incident, None


def _cut(incident: WithoutHistory, scene: Scene) -> tuple[Incident, Named | None]:
    bare = [each for each in scene.tensors if not each.requires_grad]  # of several losses, where the pass stopped
    subject = subject_of(bare or scene.tensors, scene.frames, scene.owns)
    found = loss_of_graph(subject, incident.failing.stack, scene.lines, scene.trained.optimizers)
    if found is None:
        return incident, _named(subject)
    by = None if found.written is None else clause(found.written)
    known = replace(incident, cut=found.frames, by=by, proved=found.is_proved, optimizer=found.optimizer)
    if found.name is None:
        return known, _named(subject)
    return known, Named(Culprit(found.name, found.holder), certain=found.is_proved)


def _named(subject: Subject | None) -> Named | None:
    if subject is None or subject.name is None:
        return None
    return Named(Culprit(subject.name, subject.holder), certain=subject.is_seen)
