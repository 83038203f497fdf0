"""What each remedy would do to the program, replayed in the simulator on the life that was recorded."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from gradsan.causes import cause, choosing
from gradsan.causes.diagnosing import remedies_of
from gradsan.causes.remedy import Loss, Remedy
from gradsan.causes.step_before_backward import StepBeforeBackward
from gradsan.lifecycle import fix_changes
from gradsan.lifecycle.events import Created, Stepped, Walked
from gradsan.lifecycle.life_edits import Edge, UnforeseeableError
from gradsan.lifecycle.recording import Recording
from gradsan.lifecycle.simulator import Consequences, play, replay
from gradsan.report import Diagnosis, Effects, Fix, FixKind

_NOT_RETAINING = "not `retain_graph=True`"


def _run_again(it: Recording) -> fix_changes.Change:
    """The old part where the later forward begins; all of it above the pass, where a step came after the forward."""
    events = it.life.events
    step = max((at for at, event in enumerate(events) if isinstance(event, Stepped)), default=-1)
    if it.begins > step:
        return fix_changes.Recompute(it.old, frozenset({it.begins}))
    ops = frozenset(event.op.id for event in events if isinstance(event, Created))
    return fix_changes.Recompute(ops, frozenset({len(events) - 1}))


_CHANGES: dict[FixKind, Callable[[Recording], fix_changes.Change]] = {
    "detach": lambda it: fix_changes.Detach(it.crossing),
    "item": lambda it: fix_changes.Detach(it.crossing),
    "reset-state": lambda it: fix_changes.ResetState(it.crossing),
    "no-grad": lambda it: fix_changes.NoGrad(it.old),
    "retain-graph": lambda it: fix_changes.Retain(it.earlier),
    "combine-losses": lambda it: fix_changes.Combine(it.earlier | {it.failing}),
    "recompute": _run_again,
    "move-into-loop": lambda it: fix_changes.Recompute(it.old, frozenset({it.begins})),
    "remove-backward": lambda it: fix_changes.RemovePass(frozenset({it.failing})),
}


# They cut the pass off from what is old, and so from all that it reaches through that alone.
_CUTS: frozenset[FixKind] = frozenset({"detach", "item", "no-grad", "reset-state"})


def predict(diagnosis: Diagnosis, recording: Recording) -> Diagnosis:
    """The diagnosis with the effects of its fixes; one that would not end the error comes last, and a note says why.

    What is predicted is a change of the graph. Whoever makes the edits keeps it only where an edit is that very change.
    """
    again = _computed_again(diagnosis)
    predicted = {
        fix.kind: _consequences("recompute" if fix.kind in again else fix.kind, recording) for fix in diagnosis.fixes
    }
    remedies = [each for each in remedies_of(diagnosis) if each.kind not in again]
    starved, cutting = _starved(recording), {each.kind for each in remedies if _cuts(each)}
    fixes = tuple(
        _with_effects(fix, predicted[fix.kind], starved if fix.kind in cutting else ()) for fix in diagnosis.fixes
    )
    spoiling = {each.kind for each in remedies if each.unless is not None and LOSSES[each.unless](recording)}
    fixes = choosing.last(fixes, spoiling | {kind for kind, each in predicted.items() if _fails(each)})
    notes = tuple(each for each in diagnosis.notes if not each.startswith(_NOT_RETAINING))
    because = _against_retaining(recording) if len(notes) < len(diagnosis.notes) else None
    return replace(diagnosis, fixes=fixes, notes=(*notes, because) if because is not None else diagnosis.notes)


def _computed_again(diagnosis: Diagnosis) -> set[FixKind]:
    """The fixes after which what is old is not there, and is computed again: a memo that was emptied."""
    meaning = cause(diagnosis.code).meaning
    return {
        each.kind
        for each in diagnosis.fixes
        if each.kind in _CUTS and meaning(each.kind, diagnosis.evidence) == "again"
    }


def _cuts(remedy: Remedy) -> bool:
    """Whether the failing pass loses what it reaches; the earlier loss may be what is cut instead."""
    return remedy.kind in _CUTS and remedy.cuts_later_pass


def _consequences(kind: FixKind, recording: Recording) -> Consequences | None:
    """None: the life does not say."""
    if kind not in _CHANGES:
        return None
    with suppress(UnforeseeableError, KeyError, ValueError):
        return replay(recording.life, _CHANGES[kind](recording))
    return None


def _with_effects(fix: Fix, predicted: Consequences | None, starved: tuple[str, ...]) -> Fix:
    if predicted is None:
        return fix
    if predicted.failure is not None:
        return replace(fix, effects=Effects(ends_error=False)) if _fails(predicted) else fix
    effects = Effects(
        ends_error=True,
        saved_bytes=predicted.peak_saved_bytes,
        parameters_cut_off=tuple(dict.fromkeys((*predicted.lost, *starved))),
        kept_bytes=predicted.left_saved_bytes,
        walked_ops=predicted.walked,
        parameters_changed=None if predicted.changed is None else tuple(dict.fromkeys(predicted.changed)),
    )
    return replace(fix, effects=effects)


def _fails(predicted: Consequences | None) -> bool:
    return predicted is not None and predicted.failure is not None and predicted.failure.reason in ("freed", "edited")


def _starved(recording: Recording) -> tuple[str, ...]:
    """What the failing pass would train no more, though it belongs to the optimizers that the pass is for."""
    left = _reached(recording, cut=True)
    ours = {optimizer for leaf in left for optimizer in recording.owners.get(leaf, ())}
    lost = _reached(recording, cut=False) - left
    names = {leaf.id: leaf.name for leaf in recording.life.leaves}
    return tuple(dict.fromkeys(names[leaf] for leaf in sorted(lost) if recording.owners.get(leaf, frozenset()) & ours))


def _reached(recording: Recording, *, cut: bool) -> set[int]:
    """The leaves that the failing pass reaches; `cut`: but for those that it reaches through the old part alone."""
    last = recording.life.events[-1]
    roots = [root.node for root in last.asked.roots if root is not None] if isinstance(last, Walked) else []
    return _leaves_below(recording, roots, recording.crossing if cut else frozenset())


def _leaves_below(recording: Recording, nodes: Iterable[int], cut: frozenset[Edge] = frozenset()) -> set[int]:
    """The leaves that some ops lead to, but for those that they lead to over these edges alone."""
    inputs = {event.op.id: event.op.inputs for event in recording.life.events if isinstance(event, Created)}
    left, seen = list(nodes), set[int]()
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        ports = (port for port in inputs.get(node, ()) if port is not None)
        left += [port.node for port in ports if (node, port) not in cut]
    return seen & {leaf.id for leaf in recording.life.leaves}


def _against_retaining(recording: Recording) -> str | None:
    """Why the popular answer is the wrong one, in numbers."""
    predicted = _consequences("retain-graph", recording)
    if predicted is None:
        return None
    if predicted.failure is not None and predicted.failure.reason == "edited":
        return (
            f"{_NOT_RETAINING}: this backward() would then stop with the in-place error "
            f"({StepBeforeBackward.code}), because the old graph saved parameters that the optimizer has changed"
        )
    if predicted.failure is not None or not recording.complete:
        return None
    kept = fix_changes.Retain(recording.earlier).applied(recording.life)
    walked = len(play(kept).walks[-1].executed)
    fresh = walked - len(recording.old)
    # Not that nothing would raise: which values an op saves of its parameters is not always known.
    return (
        f"{_NOT_RETAINING}: this backward() would go through {walked} ops instead of the {fresh} of its own step, and "
        "every step adds to that"
    )


LOSSES: Mapping[Loss, Callable[[Recording], bool]] = {
    "nothing is left to train": lambda it: not _reached(it, cut=True),
    "a parameter is lost": lambda it: bool(_starved(it)),
}
