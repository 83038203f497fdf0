from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Role, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy
from gradsan.facts.course import Course, OptimizerLine
from gradsan.facts.doubt import LIKELY
from gradsan.facts.incident import Evidence
from gradsan.report import Culprit, FixKind


class MissingZeroGrad(Cause):
    """Gradients pile up over optimizer steps.

    `backward()` adds to `.grad`; it does not replace what is there. That is what lets two losses, or several
    batches, work together on one update. `optimizer.step()` reads `.grad` and leaves it as it is. Without
    `zero_grad()` in between, every step therefore uses the sum of all gradients since the beginning: plain SGD then
    behaves exactly as if it had a momentum of 1.

    Nothing raises. The loss may even fall for a while, then it jumps up and down or grows without limit, and people
    lower the learning rate. It has nothing to do with the error about a second backward pass, although many articles
    say so: `zero_grad()` clears gradients, that error is about graphs, and a missing call neither causes it nor would
    an added one fix it.
    """

    code = "GS303"
    name = "missing-zero-grad"
    severity = "warning"
    counted_in_runs = True
    summary = "gradients pile up over optimizer steps because they are never cleared"
    roles: ClassVar[dict[Role, str]] = {
        "used": "this {call} adds to the old gradients",
        "enters": "this {call} is of its own loss",
        "changed": "this step uses all gradients so far",
    }
    example = Example(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.ones(3, 8, 3):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    print("gradient of the bias:", model.bias.grad.item())
""",
        shows="gradient of the bias: 1.0\ngradient of the bias: 2.0\ngradient of the bias: 3.0\n",
        fixed="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.ones(3, 8, 3):
    loss = model(batch).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("gradient of the bias:", model.bias.grad.item())
""",
        fixed_shows="gradient of the bias: 1.0\ngradient of the bias: 1.0\ngradient of the bias: 1.0\n",
    )
    fix = (
        "Call `optimizer.zero_grad()` once for every `optimizer.step()`: before the first backward pass of a step, or "
        "right after the step. With several networks, clear each one before its own update; passes of other losses "
        "may have left something there."
    )
    unless = (
        "Not between the batches of a gradient accumulation: there the pile is the purpose. Call `step()` and "
        "`zero_grad()` together, every k batches, and divide each loss by k if it is a mean. What is wrong is only a "
        "`step()` without a `zero_grad()` before the next."
    )
    tempting = Tempting(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for batch in torch.ones(3, 8, 3):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    print("gradient of the bias:", model.bias.grad.item())
""",
        shows="""\
gradient of the bias: 1.0
gradient of the bias: 2.0
gradient of the bias: 3.0
""",
        price=(
            "A lower learning rate makes the jumps smaller and leaves their cause: the gradients still add up, each "
            "step still contains all steps before it. The same problem comes ten times later."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Optimizers most of whose steps, or many in a row, used gradients that were used before.

        Or such gradients as another's loss left behind.
        """
        for each in course.optimizers:
            if each.stack and (each.piles or each.foreign):
                yield cls._piled(each) if each.piles else cls._left_behind(each)

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """What another loss has left is cleared before the pass of its own."""
        usual = super().remedy(kind, evidence)
        is_left = kind == "zero-grad" and "left_behind" in evidence
        return replace(usual, where=("own pass",)) if is_left else usual

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """Each step is given its own loss."""
        return "apart" if "left_behind" in evidence else super().meaning(kind, evidence)

    @classmethod
    def _left_behind(cls, each: OptimizerLine) -> Finding:
        named = f"`{each.name}`" if each.name else "the optimizer"
        return Finding(
            sentence=(
                f"every step of {named} also uses the gradients that another optimizer's loss has left in its "
                "parameters: nothing clears them before its own backward()"
            ),
            kinds=("zero-grad",),
            places={"changed": (each.stack, None), "used": (each.foreign, None), "enters": (each.own, None)},
            culprit=Culprit(each.name, "optimizer") if each.name else None,
            doubt=max(each.doubt, LIKELY),
            evidence={"steps": each.steps, "mixed": each.mixed, "left_behind": 1},
            count=each.mixed,
        )

    @classmethod
    def _piled(cls, each: OptimizerLine) -> Finding:
        named = f"`{each.name}`" if each.name else "the optimizer"
        who = f"every step of {named}" if each.piles_usually else f"from some time on, every step of {named}"
        return Finding(
            sentence=f"{who} also uses the gradients of the steps before: nothing clears them",
            kinds=("zero-grad",),
            places={"changed": (each.stack, None), "used": (each.own or each.adding, None)},
            culprit=Culprit(each.name, "optimizer") if each.name else None,
            doubt=each.doubt,
            evidence={"steps": each.steps, "followed": each.cycles, "piled_up": each.piled},
            count=each.piled,
        )
