from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Edited, Evidence, Incident
from gradsan.report import FixKind


class StepBeforeBackward(Cause):
    """`optimizer.step()` changed parameters between a forward and its backward pass.

    A layer saves its weight for the backward pass, because the gradient of its input is computed with it.
    `optimizer.step()` changes that weight in place. PyTorch numbers the versions of every tensor, and a pass
    compares the version that was saved with the one it finds. They differ, so it stops: the activations of the old
    weight together with the new weight would give a wrong gradient.

    The message speaks of an in-place operation and gives the shape of a weight (`[torch.FloatTensor [4, 4]]`), so
    people search their own code for `+=` and find nothing; the edit is in the optimizer. Anomaly detection points
    to the forward line that saved the weight, not to the step. Very often `retain_graph=True` was added shortly
    before, to silence the error about a second backward pass: it kept the graph, and the step made it worthless.

    Whether it raises depends on the network. A first layer saves no weight if its input needs no gradient, and a
    parameter without a gradient is not changed by the step. Such code runs, and its gradient belongs to parameters
    that are no longer there.
    """

    code = "GS201"
    name = "step-before-backward"
    severity = "error"
    summary = "an optimizer step changed parameters between a forward and its backward pass"
    own_remedies = table(
        Remedy(
            "detach",
            where=("single use", "boundary", "use"),
            unless="a parameter is lost",
            drops_retain=True,
            with_siblings=False,
        ),
        Remedy("recompute", where=("handed on", "lines after the step", "attribute", "use")),
        Remedy("move-into-loop", where=("creation",), drops_retain=True),
        Remedy(
            "reorder",
            target="step",
            where=("later pass",),
            first_if="the step takes both gradients",
            only_if_shown=True,
            guards_gradients=True,
        ),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {
        **dict.fromkeys(("detach", "recompute", "reorder", "move-into-loop"), "beside"),
        "reset-state": "begun",
    }
    asked = 70
    old_part_is_live = True
    roles = Cause.roles | {
        "made": "saved for backward() here",
        "changed": "the optimizer changes the parameters here",
        "used": "this {call} needs the old values",
    }
    example = Example(
        program="""\
import torch

trunk = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
age, size = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*trunk.parameters(), *age.parameters(), *size.parameters()], lr=0.1)
features = trunk(torch.ones(8, 3))
age(features).square().mean().backward(retain_graph=True)
opt.step()
size(features).square().mean().backward()
opt.step()
""",
        shows="RuntimeError: one of the variables needed for gradient computation has been modified by an inplace",
        fixed="""\
import torch

trunk = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
age, size = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*trunk.parameters(), *age.parameters(), *size.parameters()], lr=0.1)
features = trunk(torch.ones(8, 3))
age(features).square().mean().backward(retain_graph=True)
size(features).square().mean().backward()
opt.step()
""",
    )
    fix = (
        "Run every backward pass that uses this forward first, and step afterwards. If state carried from an earlier "
        "step leads back over the boundary, detach it there and take the `retain_graph=True` out again (GS103)."
    )
    unless = (
        "Not where the second loss is meant to see the updated parameters, as in a generator that plays against the "
        "improved discriminator. Then run its forward again after the step, as far back as parameters have changed. "
        "Updating through `.data` gets past the check and computes with mixed values, and no message says so."
    )
    tempting = Tempting(
        program="""\
import torch

trunk = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
age, size = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*trunk.parameters(), *age.parameters(), *size.parameters()], lr=0.1)
features = trunk(torch.ones(8, 3))
age(features).square().mean().backward(retain_graph=True)
loss = size(features).square().mean()
(right,) = torch.autograd.grad(loss, trunk[0].weight, retain_graph=True)
for each in trunk.parameters():
    each.data -= 0.1 * each.grad
(mixed,) = torch.autograd.grad(loss, trunk[0].weight)
print("the gradient is right:", mixed.equal(right))
""",
        shows="the gradient is right: False\n",
        price=(
            "Updating by hand through `.data` is not counted as an edit, so the check has nothing to compare and the "
            "error ends. The pass now multiplies activations of the old weights with the new weights: the gradient is "
            "wrong, and no message says so. `clone()` on the features does not help either; the weight is what was "
            "changed."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, Edited) and incident.by_optimizer

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return (
            f"{name} was computed with parameters that the optimizer has changed since, and backward() needs the old "
            "values"
        )

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if isinstance(incident, Edited) and incident.when == "earlier":
            # Old state leads back over the step's boundary. Without it, there may be nothing left to train.
            return ("detach", "recompute", "reset-state") if incident.again else ("recompute", "detach", "reset-state")
        if isinstance(incident, Edited) and incident.when == "before":
            if incident.trained_apart:
                return ("detach", "move-into-loop", "recompute")
            return ("move-into-loop", "recompute")
        if isinstance(incident, Edited) and incident.shaped_by is not None:
            return ("reorder", "recompute", "detach")
        if isinstance(incident, Edited) and incident.joined:  # the one network's output feeds the other's loss
            return ("detach", "reorder", "recompute")
        return ("recompute", "reorder", "detach")

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """The step is to be given the later loss too, where a backward of its own leads to what it trains."""
        usual = super().remedy(kind, evidence)
        return replace(usual, guards_gradients=usual.guards_gradients and "own_backward" not in evidence)

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """The step waits, where a backward of its own leads to what it trains."""
        return "held" if "own_backward" in evidence else super().meaning(kind, evidence)
