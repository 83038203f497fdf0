"""Does a fixed program train as meant? Its steps are compared with a run of the program that needs no edit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from gradsan.causes.meaning import PLACES, Meaning
from gradsan.facts.details import Sample
from gradsan.facts.graph_memory import GraphMemory, growing, held_under, in_memory
from gradsan.fix.judging.given_compared import (
    Difference,
    Steps,
    completed,
    cut_off,
    difference,
    in_any_order,
    newly_trained,
    sound,
    starves,
    trained_once,
)
from gradsan.fix.trials.arrangement import UNCHECKED, Line
from gradsan.fix.trials.workshop import Trial, Workshop
from gradsan.report import Diagnosis, Seen

# What agreeing with each meaning says, for whoever is to believe it.
_AGREES: dict[Meaning, str] = {
    "kept": "every optimizer is given the same gradients as with all graphs kept",
    "cut": "every optimizer is given the gradients that it gets when the old graph is cut off",
    "constant": "every optimizer is given the gradients that it gets when what was computed once is a constant",
    "term": "every optimizer is given the gradients of what was added since the backward() before",
    "apart": "every optimizer is given the gradients of its own loss",
    "beside": "every optimizer is given the gradients of its own loss",
    "stored": "every optimizer is given the gradients that it gets when what is put away is a constant",
    "held": "every optimizer is given the same gradients as when the step comes after the later backward()",
    "again": "every optimizer is given the gradients that it gets when all that is old is computed again",
    "reread": "every optimizer is given the gradients that it gets when all that is old is computed again",
    "attached": "every optimizer is given the gradients that it gets when nothing is cut off there",
    "unfrozen": "every optimizer is given the gradients that it gets when nothing is frozen there",
    "whole": "every optimizer is given the gradients of the whole sum",
    "awaited": "every step is given all that backward() computed for it",
    "begun": "every parameter of the first iteration is trained in later ones too",
    "copied": "every optimizer is given the same gradients as with a copy of each edited value",
    "created": "every optimizer is given the gradients that flow through the gradient itself, too",
    "cleared": "every step is given the gradients of its own iteration alone",
    "gathered": "every step is given the gradients of all backward() calls since the one before it",
    "owned": "every optimizer is given the gradients of all parameters that it was to have",
    "skipped": "every optimizer is given the same gradients as when the stale step is left out",
    "same": "every optimizer is given the same gradients as before",
}
_CUTTING: tuple[Meaning, ...] = ("cut", "constant", "stored")  # a pass walks what is cut off all the same
_NOTED = 10_000  # numbers; as many as a variable of the environment can hold
# Another reference's notes.
_GOES_BY: dict[Meaning, Meaning] = {
    "constant": "cut",
    "stored": "cut",
    "held": "beside",
    "awaited": "late",
    "reread": "again",
}
_DRAWING_AGAIN = ("again", "begun", "beside", "open")  # what is computed again draws its random numbers again
_NOT_REPEATED = "the gradients cannot be compared: what is to be computed again cannot be, without an edit"
_FAILS_OTHERWISE = "there is nothing to compare its gradients with: the program also fails for other reasons"
_NOT_GIVEN = "the gradients cannot be compared: without an edit, no optimizer can be given them at the same step"
_WITH_MOMENTUM = "only its author knows whether the optimizer keeps its momentum, or starts again without it"
_AIMED = "only its author knows whether the later loss is to train what the earlier one only compares with"
_WITHIN = "only its author knows whether the inner backward() is to add to what the outer one gives the same parameters"
_OTHER_DRAWS = "the gradients cannot be compared: random numbers are drawn in another order"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fixed program trains as meant, and what that is seen by."""

    answer: Literal["agrees", "differs", "undecided"]
    why: str
    may_be_rounded: bool = False  # what differs may come from the last digits of what did not

    @property
    def agrees(self) -> bool:
        """Whether it is known to."""
        return self.answer == "agrees"


@dataclass
class Stage:
    """A program on the way to a clean one: as it is, or with some fixes made. Each reference is run once."""

    ran: Trial
    changed: Mapping[str, bytes]
    workshop: Workshop
    about: Diagnosis | None = None  # the problem that is dealt with
    precise: bool = False  # it is run in double precision, as its references are

    def precisely(self) -> "Stage":
        """The same in double precision."""
        return replace(self, ran=self.workshop.run(self.changed, precise=True), precise=True)

    def reference(self, meaning: Meaning) -> Trial:
        """How it runs without an edit where its passes do what is meant."""
        other = self.reference(_GOES_BY[meaning]) if meaning in _GOES_BY else None
        noted = () if other is None else (other.sites if meaning == "stored" else other.noted)[:_NOTED]
        run = partial(self.workshop.run, self.changed, noted=noted, precise=self.precise)
        found = run(reference=meaning, line=self.line_of(meaning))
        return run(reference=meaning + UNCHECKED) if found.status != 0 and meaning in _CUTTING else found

    def line_of(self, meaning: Meaning) -> Line | None:
        """The line that the reference of a meaning goes by; None: by none, or it is not known."""
        if self.about is None or meaning not in PLACES:
            return None
        place = self.about.cut if PLACES[meaning] == "cut" else self.about.made
        if place is None:
            return None
        return place.file, place.line, place.end_line or place.line, place.function or ""

    def seen(self, trial: Trial) -> Seen | None:
        """What a trial with a fix showed beside the program without it, of the same passes; None: nothing grew."""
        name = None if self.about is None or self.about.culprit is None else self.about.culprit.name
        if name is None or not trial.samples:
            return None
        before = self.workshop.run(self.changed, weighs=True)
        looked = min(len(before.samples), len(trial.samples))
        old, new = before.samples[:looked], trial.samples[:looked]
        holder = growing(old, before.holders, name)
        if holder is None:
            return None
        passes = old[-1].number + 1
        return Seen(passes, _whole(new, trial.holders, holder), _whole(old, before.holders, holder))

    @property
    def fails(self) -> bool:
        """Whether it ends with an error."""
        return self.ran.status != 0


def _whole(samples: Sequence[Sample], holders: Sequence[str], holder: str) -> GraphMemory:
    """All that was alive at most, and how a part of it grew."""
    whole, part = in_memory(samples), held_under(samples, holders, holder)
    return replace(part or GraphMemory(0, 0), ops=whole.ops, saved_bytes=whole.saved_bytes)


def judge(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    """Whether the program of a trial, which is that of the stage with a fix, trains as meant."""
    found = _judged(trial, meaning, stage)
    if not found.may_be_rounded or stage.precise:
        return found
    again, precise = stage.workshop.run(trial.changed, precise=True), stage.precisely()
    ends_as_before = again.status == trial.status and precise.ran.status == stage.ran.status
    exact = _judged(again, meaning, precise) if ends_as_before else found
    return exact if exact.agrees else found


def _judged(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    if not trial.steps:
        if completed(stage.ran.steps):
            return Verdict("differs", "nothing is trained any more")
        return Verdict("undecided", "nothing was trained, so that nothing can be compared")
    if meaning == "beside" and _is_taken_once(stage):
        meaning = "held"
    spoiled = _spoiled(trial, stage, meaning)
    if spoiled is None or (spoiled.answer == "undecided" and meaning in _DRAWING_AGAIN):
        return _as_meant(trial, meaning, stage)
    return spoiled


def is_also_meant(trial: Trial, other: Meaning, stage: Stage) -> bool:
    """Whether a run of another meaning trains all that a trial trains, and otherwise: both could be meant.

    Nobody adds a term to a loss that would train nothing.
    """
    reference = stage.reference(other)
    if reference.status != 0 or reference.idle or cut_off(reference.steps, trial.steps, trial.names):
        return False
    return difference(trial.steps, reference.steps, trial.names) is not None


def is_compared(meaning: Meaning, stage: Stage) -> bool:
    """Whether there is a run to compare with: then a trial decides what an edit means, whatever the edit is."""
    if meaning in ("open", "aimed"):
        return False
    return not _goes_by_the_first_step(meaning, stage) or _is_kept_as_meant(stage)


def _spoiled(trial: Trial, stage: Stage, meaning: Meaning) -> Verdict | None:
    """What the fix has changed that was right: steps before the error, and whoever was trained; None: nothing.

    Where something is to be a constant, the steps that trained through it were not right, nor one that came too early.
    """
    before = completed(stage.ran.steps) if stage.fails else stage.ran.steps
    is_right = stage.fails and meaning not in _GOES_BY
    if is_right and (changed := difference(trial.steps, sound(before), trial.names)) is not None:
        return _differs(changed, "the program before it failed")
    if unused := sorted({name for name, *_ in stage.ran.shaped - trial.shaped}):
        return Verdict("differs", f"what the backward of {_listed(unused)} gives reaches fewer parameters")
    if not (stage.fails or trial.ended_early) and len(completed(trial.steps)) < len(completed(before)):
        return _other_number(completed(trial.steps), completed(before))
    lost = cut_off(trial.steps, before, trial.names)
    if meaning == "constant":
        lost = lost or _untrained_as_constant(trial, stage)
    return Verdict("differs", f"no gradient any more for {_listed(lost)}") if lost else None


def _as_meant(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    here = _here(meaning, stage)
    return _WAYS.get(here, _by_its_run)(trial, here, stage)


def _here(meaning: Meaning, stage: Stage) -> Meaning:
    """What a meaning comes to in this program."""
    if _goes_by_the_first_step(meaning, stage):
        return "begun"
    if meaning == "constant" and _untrained_as_constant(stage.reference("constant"), stage):
        return "again"
    return "kept" if meaning == "same" and stage.fails else meaning


def _by_its_run(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    return _compared(trial, stage.ran if meaning == "same" else stage.reference(meaning), meaning)


def _by_a_line(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    """By a run in which one line does something else, where it can; who is to be frozen, a run cannot show."""
    reference = stage.reference(meaning) if stage.line_of(meaning) else None
    if reference is None or reference.status != 0 or reference.stale or not reference.noted:
        return _only_seen(trial, meaning, stage)
    found = _compared(trial, reference, meaning)
    return found if found.agrees or meaning != "unfrozen" else _only_seen(trial, meaning, stage)


def _only_seen(trial: Trial, _meaning: Meaning, stage: Stage) -> Verdict:
    """Who is trained now and was not, for whoever has to decide."""
    new = newly_trained(trial.steps, stage.ran.steps, trial.names)
    seen = f" (with it, {_listed(new)} {'are' if len(new) > 1 else 'is'} trained, and else not)" if new else ""
    return Verdict("undecided", f"only its author knows whether it trains as meant{seen}")


def _goes_by_the_first_step(meaning: Meaning, stage: Stage) -> bool:
    """Whether state begins again: as meant, or because nothing is left to train where it is cut off."""
    return meaning == "begun" or (meaning == "cut" and starves(stage.reference("cut").steps))


def _is_kept_as_meant(stage: Stage) -> bool:
    """Whether parameters have not changed: then all graphs kept give what new ones would."""
    kept = stage.reference("kept")
    return stage.fails and kept.status == 0 and not kept.stale


def _untrained_as_constant(trial: Trial, stage: Stage) -> list[str]:
    """What an optimizer steps with, and is given no gradient where something is a constant.

    A pass that failed comes before the steps that it was for: the program as it is does not show who they are.
    """
    return cut_off(trial.steps, stage.reference("kept").steps, trial.names)


def _beside(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    return _shared(trial, stage) if _is_of_several(stage) else _again(trial, meaning, stage)


def _is_of_several(stage: Stage) -> bool:
    """Whether a step came between passes which train something together."""
    reference = stage.reference("beside")
    return reference.joint or (reference.shared and not reference.stale)


def _is_taken_once(stage: Stage) -> bool:
    """Whether a step takes gradients again that it has taken, with those of the next pass: it is to wait for these.

    Where nobody takes the later gradient, nothing says whether it was to be taken, or not to flow at all: a probe.
    """
    return _is_of_several(stage) and stage.reference("beside").piled


def _shared(trial: Trial, stage: Stage) -> Verdict:
    """A step came between two passes over one forward: nothing says whether it is to wait for the later one."""
    found = difference(trial.steps, stage.reference("held").steps, trial.names)
    why = "only its author knows whether the earlier step is to wait for the later backward()"
    if found is None:
        return Verdict("undecided", why)
    return Verdict("undecided", f"{why}: compared with a step after both, {found.what} (step {found.step})")


def _again(trial: Trial, first: Meaning, stage: Stage) -> Verdict:
    """By the first reference that computes nothing from old parameters."""
    for meaning in dict.fromkeys((first, "again")):
        reference = stage.reference(meaning)
        if reference.status == 0 and not reference.stale:
            found = _compared(trial, reference, meaning)
            if meaning == "again" and found.answer == "differs":  # a value may be looked at before it is used
                other = _compared(trial, stage.reference("reread"), "reread")
                return other if other.agrees else found
            return found
    return Verdict("undecided", _NOT_REPEATED if stage.reference("again").status == 0 else _FAILS_OTHERWISE)


def _begun(trial: Trial, _meaning: Meaning, stage: Stage) -> Verdict:
    """By who is trained, once parameters have changed: no reference has values that the program does not compute."""
    if _is_kept_as_meant(stage):
        return _compared(trial, stage.reference("kept"), "kept")
    once = trained_once(trial.steps, completed(stage.ran.steps), trial.names)
    if once:
        return Verdict("differs", f"only the first iteration trains {_listed(once)}")
    return Verdict("agrees", _AGREES["begun"])


def _owned(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    """Nobody knows in which order a model has parameters that it does not know of, nor which optimizer is one's own.

    One that is created later, or again, has other parameters: it is another by its number.
    """
    reference = stage.reference(meaning)
    is_cut_short = trial.ended_early or reference.ended_early
    if not reference.noted or (len(trial.late) != len(reference.late) and not is_cut_short):
        return Verdict("undecided", _NOT_GIVEN)
    if reference.momentum:
        return Verdict("undecided", _WITH_MOMENTUM)
    ours, theirs = (replace(each, steps=in_any_order([*each.steps, *each.late])) for each in (trial, reference))
    return _compared(ours, theirs, meaning)


def _created(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    if stage.reference(meaning).joint:
        return Verdict("undecided", _WITHIN)
    return _by_its_run(trial, meaning, stage)


def _aimed(_trial: Trial, _meaning: Meaning, _stage: Stage) -> Verdict:
    return Verdict("undecided", _AIMED)


# How it is judged what has not simply a run of its own to be compared with.
_WAYS: dict[Meaning, Callable[[Trial, Meaning, Stage], Verdict]] = {
    "aimed": _aimed,
    "open": _only_seen,
    "begun": _begun,
    "again": _again,
    "beside": _beside,
    "owned": _owned,
    "created": _created,
    **dict.fromkeys(PLACES, _by_a_line),
}


def _compared(trial: Trial, reference: Trial, meaning: Meaning) -> Verdict:
    if reference.status != 0:
        return Verdict("undecided", _FAILS_OTHERWISE)
    if (found := difference(trial.steps, reference.steps, trial.names)) is not None:
        return _differs(found, "what is meant")
    is_cut_short = trial.ended_early or reference.ended_early or trial.status != 0  # another problem came to light
    if len(trial.steps) != len(reference.steps) and not is_cut_short:
        return _other_number(trial.steps, reference.steps)
    return Verdict("agrees", _AGREES[meaning])


def _other_number(ours: Steps, theirs: Steps) -> Verdict:
    return Verdict("differs", f"it makes {len(ours)} steps instead of {len(theirs)}")


def _differs(found: Difference, than: str) -> Verdict:
    if found.after_other_draws:
        return Verdict("undecided", _OTHER_DRAWS)
    return Verdict(
        "differs", f"it trains otherwise than {than}: {found.what} (step {found.step})", found.after_rounding
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"  # noqa: PLR2004 # as above
