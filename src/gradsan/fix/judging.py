"""Does a fixed program train as meant? Its steps are compared with a run of the program that needs no edit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gradsan.causes.meaning import Meaning
from gradsan.fix.arrangement import UNCHECKED
from gradsan.fix.given_compared import Difference, Steps, completed, cut_off, difference, sound, starves, trained_once
from gradsan.fix.trials import Trial, Workshop

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
    "begun": "every parameter of the first iteration is trained in later ones too",
    "copied": "every optimizer is given the same gradients as with a copy of each edited value",
    "created": "every optimizer is given the gradients that flow through the gradient itself, too",
    "cleared": "every step is given the gradients of its own iteration alone",
    "skipped": "every optimizer is given the same gradients as when the stale step is left out",
    "same": "every optimizer is given the same gradients as before",
    "open": "every parameter that was trained still is",
}
_CUTTING: tuple[Meaning, ...] = ("cut", "constant", "stored")  # a pass walks what is cut off all the same
_NOTED = 10_000  # numbers; as many as a variable of the environment can hold
# Another reference's notes.
_GOES_BY: dict[Meaning, Meaning] = {"constant": "cut", "stored": "cut", "held": "beside", "reread": "again"}
_DRAWING_AGAIN = ("again", "begun", "beside", "open")  # what is computed again draws its random numbers again
_NOT_REPEATED = "the gradients cannot be compared: what is to be computed again cannot be, without an edit"
_FAILS_OTHERWISE = "there is nothing to compare its gradients with: the program also fails for other reasons"
_OTHER_DRAWS = "the gradients cannot be compared: random numbers are drawn in another order"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fixed program trains as meant, and what that is seen by."""

    answer: Literal["agrees", "differs", "undecided"]
    why: str

    @property
    def agrees(self) -> bool:
        """Whether it is known to."""
        return self.answer == "agrees"


_UNCOMPARED: dict[Meaning, Verdict] = {
    "open": Verdict("agrees", _AGREES["open"]),
    "aimed": Verdict(
        "undecided", "only its author knows whether the later loss is to train what the earlier one only compares with"
    ),
}


@dataclass
class Stage:
    """A program on the way to a clean one: as it is, or with some fixes made. Each reference is run once."""

    ran: Trial
    changed: Mapping[str, bytes]
    workshop: Workshop
    _references: dict[Meaning, Trial] = field(default_factory=dict)

    def reference(self, meaning: Meaning) -> Trial:
        """How it runs without an edit where its passes do what is meant."""
        if meaning not in self._references:
            other = self.reference(_GOES_BY[meaning]) if meaning in _GOES_BY else None
            noted = () if other is None else (other.sites if meaning == "stored" else other.noted)[:_NOTED]
            found = self.workshop.run(self.changed, reference=meaning, noted=noted)
            if found.status != 0 and meaning in _CUTTING:
                found = self.workshop.run(self.changed, reference=meaning + UNCHECKED, noted=noted)
            self._references[meaning] = found
        return self._references[meaning]

    @property
    def fails(self) -> bool:
        """Whether it ends with an error."""
        return self.ran.status != 0


def judge(trial: Trial, meaning: Meaning, stage: Stage) -> Verdict:
    """Whether the program of a trial, which is that of the stage with a fix, trains as meant."""
    if not trial.steps:
        return Verdict("undecided", "nothing was trained, so that nothing can be compared")
    spoiled = _spoiled(trial, stage, meaning)
    if spoiled is None or (spoiled.answer == "undecided" and meaning in _DRAWING_AGAIN):
        return _as_meant(trial, meaning, stage)
    return spoiled


def is_compared(meaning: Meaning, stage: Stage) -> bool:
    """Whether there is a run to compare with: then a trial decides what an edit means, whatever the edit is."""
    if meaning in _UNCOMPARED:
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
    if meaning in _UNCOMPARED:
        return _UNCOMPARED[meaning]
    if _goes_by_the_first_step(meaning, stage):
        return _begun(trial, stage)
    if meaning == "beside":
        reference = stage.reference("beside")
        is_open = reference.joint or (reference.shared and not reference.stale)
        return _shared(trial, stage) if is_open else _again(trial, stage, "beside")
    if meaning == "again" or (meaning == "constant" and _untrained_as_constant(stage.reference("constant"), stage)):
        return _again(trial, stage, "again")
    if meaning == "same" and not stage.fails:
        return _compared(trial, stage.ran, meaning)
    return _compared(trial, stage.reference("kept" if meaning == "same" else meaning), meaning)


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


def _shared(trial: Trial, stage: Stage) -> Verdict:
    """Two losses share features, and a step came between their passes: nothing says whether the later trains them."""
    found = difference(trial.steps, stage.reference("held").steps, trial.names)
    if found is None:
        return Verdict("undecided", "only its author knows whether the earlier step is to be given the later loss, too")
    why = "only its author knows whether the later loss is to train what both losses share"
    return Verdict("undecided", f"{why}: compared with a step after both passes, {found.what} (step {found.step})")


def _again(trial: Trial, stage: Stage, first: Meaning) -> Verdict:
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


def _begun(trial: Trial, stage: Stage) -> Verdict:
    """By who is trained, once parameters have changed: no reference has values that the program does not compute."""
    if _is_kept_as_meant(stage):
        return _compared(trial, stage.reference("kept"), "kept")
    once = trained_once(trial.steps, completed(stage.ran.steps), trial.names)
    if once:
        return Verdict("differs", f"only the first iteration trains {_listed(once)}")
    return Verdict("agrees", _AGREES["begun"])


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
    return Verdict("differs", f"it trains otherwise than {than}: {found.what} (step {found.step})")


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"  # noqa: PLR2004 # as above
