"""From what was observed to a diagnosis: the questions that tell the causes apart, asked in their order."""

import hashlib
import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gradsan.causes import all_causes
from gradsan.causes import cause as cause_of
from gradsan.causes.cause import Cause, Finding, Places, Role
from gradsan.causes.remedy import Remedy
from gradsan.causes.titles import title_of
from gradsan.facts.culprit import Named, shown, shown_line
from gradsan.facts.incident import (
    Edited,
    GraphPath,
    Incident,
    OpFact,
    PassFact,
    ReadAfterFree,
    SecondPass,
    Stack,
    WithoutHistory,
)
from gradsan.facts.location import Frame, Location
from gradsan.report import Confidence, Culprit, Diagnosis, Fix, FixKind, Origin, PathOp, RaisedError, Safety
from gradsan.source.disk import notebook_at

# Kinds of fix with which, at every step, each optimizer is given what a run with all graphs kept would give it. What is
# computed again after a step, or at another time than the program did it, sees other parameters than that run; and a
# gradient that becomes part of the loss adds a term to it.
_SAME_GRADIENTS: frozenset[FixKind] = frozenset(
    {"recompute", "combine-losses", "retain-graph", "remove-retain", "clone", "setting"}
)

_CONFIDENCE: tuple[Confidence, ...] = ("certain", "likely", "possible")  # by the doubt


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """How facts came to be known: what a report says about that, and how it writes down a place."""

    origin: Origin
    locate: Callable[[Stack, int | None], Location | None]  # the innermost line of a stack, in a step


def locate(stack: Stack, step: int | None = None) -> Location | None:
    """The innermost line of a stack, with its source, as reports show it."""
    if not stack:
        return None
    inner = stack[-1]
    notebook = notebook_at(inner.file)
    text = (linecache.getline(inner.file, inner.line) if notebook is None else notebook.as_written(inner.line)).rstrip()
    cell, first = (None, 1) if notebook is None else notebook.cell_of(inner.line)
    return Location(
        file=shown(inner.file),
        line=inner.line - first + 1,
        column=len(text) - len(text.lstrip()) + 1,
        end_line=inner.line - first + 1,
        end_column=len(text) + 1,
        function=inner.function,
        source=text.strip(),
        step=step,
        stack=tuple(Frame(shown(each.file), each.line, each.function) for each in stack),
        cell=cell,
    )


RUN = EntryPoint("run", locate)


def diagnose(
    incident: Incident,
    error: RaisedError | None,
    named: Named | None,
    beliefs: tuple[str, ...] = (),
    entry: EntryPoint = RUN,
) -> Diagnosis:
    """The one diagnosis of an error. `beliefs`: what the user has done already, and why it does not help."""
    cause = next(each for each in _in_order() if each.explains(incident))
    subject = "a tensor" if named is None else f"`{named.culprit.name}`"
    finding = Finding(
        sentence=cause.sentence(subject, incident),
        kinds=cause.kinds(incident),
        places=_places(incident),
        culprit=None if named is None else named.culprit,
        doubt=incident.doubtful,
        evidence=_evidence(incident),
        notes=(*beliefs, *_notes(incident, cause)),
    )
    found = diagnosis_of(finding, cause, entry)
    path = incident.path if isinstance(incident, SecondPass | Edited) else GraphPath()
    return replace(
        found,
        error=error,
        fixes=tuple(_claimed(each, incident) for each in found.fixes),
        path=tuple(_path_op(op, entry) for op in path.ops),
        elided=path.left_out,
    )


def diagnosis_of(finding: Finding, cause: type[Cause], entry: EntryPoint) -> Diagnosis:
    """A case of a cause as reports have it."""
    places = {role: entry.locate(stack, step) for role, (stack, step) in finding.places.items()}
    return Diagnosis(
        code=cause.code,
        name=cause.name,
        severity=cause.severity,
        origin=entry.origin,
        confidence=_CONFIDENCE[finding.doubt],
        message=capitalised(finding.sentence),
        fingerprint=fingerprint_of(cause, "" if finding.culprit is None else finding.culprit.name, places.values()),
        count=finding.count or 1,
        culprit=finding.culprit,
        evidence={key: value for key, value in finding.evidence.items() if value is not None},
        notes=finding.notes,
        fixes=tuple(fix_of(kind, cause, finding.culprit, places) for kind in finding.kinds),
        **places,  # type: ignore[arg-type] # a role is the name of a field
    )


def remedies_of(diagnosis: Diagnosis) -> tuple[Remedy, ...]:
    """What its cause asks for, fix by fix: all that making the edits depends on."""
    known = cause_of(diagnosis.code)
    return tuple(known.remedy(fix.kind, diagnosis.evidence) for fix in diagnosis.fixes)


def _claimed(fix: Fix, incident: Incident) -> Fix:
    """Not claiming the same gradients for a forward that is run again after parameters have changed."""
    if fix.kind == "recompute" and isinstance(incident, SecondPass) and incident.updated_between:
        return replace(fix, safety="changes-gradients")
    return fix


def fix_of(kind: FixKind, cause: type[Cause], culprit: Culprit | None, places: Mapping[Role, Location | None]) -> Fix:
    """A fix of this kind, in the words of a cause."""
    keeping = _SAME_GRADIENTS
    # A program that runs is fixed so that it trains otherwise, but for what only costs memory; and one that edits or
    # cuts what a pass needs fails with all graphs kept, too: there is nothing that gradients could be the same as.
    if cause.asked is None or cause.code.startswith("GS2"):
        keeping = cause.keeping_gradients
    safety: Safety = "same-gradients" if kind in keeping else "changes-gradients"
    return Fix(kind, title_of(kind, cause, None if culprit is None else culprit.name, places), safety)


def _in_order() -> list[type[Cause]]:
    asked = [each for each in all_causes() if each.asked is not None]
    return sorted(asked, key=lambda each: each.asked or 0)


def _places(incident: Incident) -> Places:
    places: Places = {"used": _of_pass(incident.failing)}
    match incident:
        case SecondPass():
            places |= {"freed": _of_pass(incident.freeing), "made": _of_op(incident.made)}
            places["enters"] = _of_op(incident.enters)
        case Edited():
            places |= {"made": _of_op(incident.saver), "enters": _of_op(incident.enters)}
            places["changed"] = (incident.changed, None)
        case WithoutHistory():
            places["cut"] = (incident.cut, None)
        case ReadAfterFree(freeing=PassFact() as freeing):
            places["freed"] = _of_pass(freeing)
    return places


def _of_op(fact: OpFact | None) -> tuple[Stack, int | None]:
    return ((), None) if fact is None else (fact.stack, fact.step)


def _of_pass(fact: PassFact) -> tuple[Stack, int | None]:
    return fact.stack, fact.step


def _notes(incident: Incident, cause: type[Cause]) -> Iterator[str]:
    """What the user may believe, and is not so."""
    if isinstance(incident, SecondPass) and incident.failing.retains:
        yield (
            "`retain_graph=True` on this call does not help: it keeps the graph for later calls, and the graph was "
            "freed by an earlier one"
        )
    if isinstance(incident, Edited) and incident.by_optimizer and incident.when == "earlier" and incident.again:
        yield "the old values come from an earlier step, through a tensor that is carried on: that is the cause (GS103)"
    if isinstance(incident, Edited) and incident.by_optimizer and incident.retained:
        kept = shown_line(incident.retained[-1].file, incident.retained[-1].line)
        yield (
            f"`retain_graph=True` at {kept} leads to this error: it keeps the graph after the "
            "optimizer's step, which changes the parameters that the graph needs"
        )
    yield from cause.notes(incident)


def _path_op(op: OpFact, entry: EntryPoint) -> PathOp:
    return PathOp(op.name, "freed" if op.consumed else "live", op.module, entry.locate(op.stack, op.step))


def _evidence(incident: Incident) -> dict[str, int | float | str | None]:
    if isinstance(incident, Edited):
        is_trained = any(each.is_trained for each in incident.suspects)
        return {"own_backward": incident.shaped_by, "edited": "what an optimizer trains" if is_trained else None}
    if not isinstance(incident, SecondPass):
        return {}
    found: dict[str, int | float | str | None] = {
        "freed_ops": None if incident.consumed_bytes is None else len(incident.consumed),
        "saved_bytes": incident.consumed_bytes,
        "own_backward": incident.shaped_by,
        "old_part": _role(incident),
        "inner_pass_trains": "others" if incident.trains_inside else None,
    }
    if incident.owners.apart and incident.owners.served:
        trains_creator = bool(incident.owners.served & incident.owners.freed)
        found["earlier_pass_trains"] = "its maker" if trains_creator else "others"
    return found


def _role(incident: SecondPass) -> str | None:
    """What the old part is to the loss, where that says what to do about it."""
    if incident.is_target and incident.trained_again:
        return "a target of the loss"
    if incident.is_average:
        return "an average beside the network"
    return "a term of the loss" if incident.is_term else None


def fingerprint_of(cause: type[Cause], name: str, places: Iterable[Location | None]) -> str:
    """The same while lines shift: made of texts and functions, not of numbers."""
    parts = [cause.code, name]
    for place in places:
        parts += [] if place is None else [place.file, place.function or "", place.source or ""]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:16]


def capitalised(sentence: str) -> str:
    """As a sentence begins."""
    return sentence[:1].upper() + sentence[1:]
