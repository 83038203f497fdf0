from collections.abc import Iterator, Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import Course, Gave
from gradsan.facts.doubt import LIKELY, SURE
from gradsan.facts.incident import Stack
from gradsan.lifecycle.amounts import count
from gradsan.report import Culprit, FixKind

_TOO_LATE = "its backward() comes after the optimizer's step, and its gradients are cleared before the next one"
_TOO_EARLY = "its gradients are cleared before the optimizer's step uses them"
_ALL_BUT_LAST = "before each step, only the last backward() counts, and the gradients of the others are cleared"


class LateBackward(Cause):
    """A loss is back-propagated after the step, and its gradient is cleared before the next one.

    `backward()` only fills `.grad`; the parameters change in `optimizer.step()`, which takes what is there at that
    moment. A loss whose pass comes after the step puts its gradient there too late. The next iteration begins with
    `zero_grad()`, and the gradient is cleared before anything has used it. The loss is computed, back-propagated and
    logged, and it trains nothing.

    It happens when a second loss (adversarial, regularising, auxiliary) is added below a training step that was
    finished. Each line is right by itself, and nothing raises as long as the late loss runs its own forward after the
    step; built on the forward before the step, it may raise (GS201). The sign is a loss that does not care about its
    own weight: multiply it by 100, and the run stays the same.

    A `zero_grad()` between `backward()` and `step()` does the same to a single loss: the step finds nothing to take.
    And where gradients of several batches are to add up, a `zero_grad()` before each backward() leaves the last one.
    """

    code = "GS307"
    name = "late-backward"
    severity = "warning"
    summary = "a loss is back-propagated after `step()` and cleared before the next: it trains nothing"
    own_remedies = table(
        Remedy("reorder", target="step", where=("later pass", "clearing")),
        Remedy("zero-grad", target="optimizer", where=("between passes",), trusted=False),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"reorder": "awaited", "zero-grad": "gathered"}
    roles = Cause.roles | {
        "changed": "the optimizer steps here",
        "used": "no step uses the gradients of this {call}",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "reorder": "let `backward()` come between `zero_grad()` and `step()`, so that the step uses its gradients",
        "zero-grad": "clear the gradients below {changed}, not before each backward(): they add up until then",
        "combine-losses": "add up the losses, and call backward() once, on the sum, before {changed}",
    }
    example = Example(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor([4.0, 4.0]))
opt = torch.optim.SGD([weight], lr=0.25)
for _ in range(4):
    opt.zero_grad()
    loss = weight[0].square()
    loss.backward()
    opt.step()
    penalty = weight[1].square()
    penalty.backward()
print(weight.tolist())
""",
        shows="[0.25, 4.0]\n",
        fixed="""\
import torch

weight = torch.nn.Parameter(torch.tensor([4.0, 4.0]))
opt = torch.optim.SGD([weight], lr=0.25)
for _ in range(4):
    opt.zero_grad()
    loss = weight[0].square()
    loss.backward()
    penalty = weight[1].square()
    penalty.backward()
    opt.step()
print(weight.tolist())
""",
        fixed_shows="[0.25, 0.25]\n",
    )
    fix = (
        "Move `step()` after the last backward pass of the iteration, or add the losses up and call backward once "
        "before it. Where gradients of several batches are to add up, clear them below `step()`. Where the losses "
        "share a forward, the sum is shorter (GS102)."
    )
    unless = (
        "Not where the late loss is to act on parameters that the step has already updated. Then it needs a step of "
        "its own: `zero_grad()`, its forward, its backward, `step()`. If its gradient was only to be looked at, take "
        "it with `torch.autograd.grad`, which leaves `.grad` alone. Where `zero_grad()` follows directly on `step()`, "
        "a late gradient is not lost but acts one iteration later; if that is meant, leave a comment."
    )
    tempting = Tempting(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor([4.0, 4.0]))
opt = torch.optim.SGD([weight], lr=0.25)
for _ in range(4):
    opt.zero_grad()
    loss = weight[0].square()
    loss.backward()
    opt.step()
    penalty = 100 * weight[1].square()
    penalty.backward()
print(weight.tolist())
""",
        shows="[0.25, 4.0]\n",
        price=(
            "Turning up the weight of the late loss multiplies a gradient that no step uses. The run is the "
            "same to the last digit."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Lines whose passes gave their gradients to parameters that no step took them from, but for a few."""
        for line in course.lines:
            gave = line.gave
            if gave is None or not (gave.is_in_vain or gave.is_of_last_alone) or not line.is_direct:
                continue
            loss = f"`{line.loss}`" if line.loss else "a loss"
            why = f"trains nothing: {_TOO_EARLY if _is_above(line.stack, gave.step) else _TOO_LATE}"
            yield Finding(
                sentence=f"{loss} {f'trains too little: {_ALL_BUT_LAST}' if gave.is_of_last_alone else why}",
                kinds=("zero-grad" if gave.is_of_last_alone else "reorder", "combine-losses"),
                places={"changed": (gave.step, None), "used": (line.stack, None)},
                culprit=Culprit(line.loss, line.loss_holder) if line.loss else None,
                evidence={"passes": line.passes, "followed": gave.wasted},
                doubt=max(line.doubt, LIKELY if gave.used else SURE),
                notes=_came_too_late(gave),
                count=gave.wasted,
            )


def _is_above(passing: Stack, stepping: Stack) -> bool:
    """Whether a pass stands above a step in the function in which their calls part: then it is the clearing's place."""
    parted = next((pair for pair in zip(passing, stepping, strict=False) if pair[0] != pair[1]), None)
    if parted is None:
        return False
    one, other = parted
    return (one.file, one.function) == (other.file, other.function) and one.line < other.line


def _came_too_late(gave: Gave) -> tuple[str, ...]:
    if gave.wasted is None:
        return ()
    followed = gave.used + gave.wasted
    if gave.all_but_last:
        return (f"the gradients of {gave.wasted} of {followed} passes that were followed were cleared",)
    if not gave.used:
        return (f"all {count(followed, 'backward() call')} that were followed came too late",)
    return (f"{gave.wasted} of {followed} backward() calls that were followed came too late",)
