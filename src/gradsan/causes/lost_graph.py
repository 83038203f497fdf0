from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.facts.incident import Incident, WithoutHistory
from gradsan.report import FixKind

# How a cut is written, and what ends it where no call can simply be left out.
_BY_SIGN: Mapping[str, FixKind] = {"autograd.grad": "create-graph", "requires_grad": "unfreeze"}


class LostGraph(Cause):
    """The loss has no graph, so there is nothing to back-propagate.

    A tensor knows how it was computed only as long as every step on the path is an operation that PyTorch records.
    `.item()`, `.detach()`, `.data`, `torch.tensor(x)` and a conversion to numpy and back give bare values; inside
    `torch.no_grad()` nothing is recorded; `argmax`, comparisons, `.long()` and a distribution's `sample()` have no
    gradient at all. If all paths from the parameters to the loss lead through such a place, the loss is a plain
    number, and `backward()` has no graph to go through. Or nothing was cut, and nothing was to learn: a tensor that an
    optimizer is given must require gradients, and a plain `torch.zeros(3)` or a copy does not.

    It often comes after the error about a second backward pass, when one `detach()` too many was put in to stop it.
    The popular fix `loss.requires_grad_()` removes the message and the training with it: the loss becomes a leaf,
    its own gradient is 1, and no parameter receives anything. Instead follow the path from the model's output to
    the loss. The first tensor whose `requires_grad` is False was created by the line that has to change.
    """

    code = "GS203"
    name = "lost-graph"
    severity = "error"
    summary = "the loss has no graph: `.item()`, `.data`, `no_grad`, numpy or argmax cut it off"
    asked = 80
    titles: ClassVar[dict[FixKind, str]] = {
        "advice": "compute {it} with torch operations, from tensors that require a gradient, outside of `no_grad`"
    }
    roles = Cause.roles | {"cut": "its graph is lost here", "used": "this {call} needs a graph"}
    example = Example(
        program="""\
import torch

model = torch.nn.Linear(3, 2)
x, labels = torch.ones(8, 3), torch.ones(8, dtype=torch.long)
predicted = model(x).argmax(dim=1)
loss = (predicted != labels).float().mean()
loss.backward()
""",
        shows="RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        fixed="""\
import torch

model = torch.nn.Linear(3, 2)
x, labels = torch.ones(8, 3), torch.ones(8, dtype=torch.long)
scores = model(x)
loss = torch.nn.functional.cross_entropy(scores, labels)
loss.backward()
""",
    )
    fix = (
        "Keep everything between the parameters and the loss in recorded operations: leave out the call that cuts, "
        "`torch.stack` losses instead of rebuilding them with `torch.tensor`, use `rsample()` for `sample()`, and a "
        "loss on scores (`cross_entropy`) instead of one on decisions (`argmax`, accuracy)."
    )
    unless = (
        "Not in evaluation: under `no_grad` there is nothing to train, and the `backward()` call is what has to go. If "
        "all parameters were frozen on purpose (`requires_grad=False`), unfreeze those that should learn. Where the "
        "decision itself must stay in the loss, it takes another estimator: a straight-through or Gumbel-softmax "
        "sample, or a policy gradient with `log_prob`."
    )
    tempting = Tempting(
        program="""\
import torch

model = torch.nn.Linear(3, 2)
x, labels = torch.ones(8, 3), torch.ones(8, dtype=torch.long)
predicted = model(x).argmax(dim=1)
loss = (predicted != labels).float().mean()
loss.requires_grad_()
loss.backward()
print("gradient of the weight:", model.weight.grad)
""",
        shows="gradient of the weight: None\n",
        price=(
            "`loss.requires_grad_()` does what the message seems to ask for. The loss becomes a leaf of its own: the "
            "pass begins and ends there, and no parameter receives anything. The program runs for as many epochs as it "
            "is told to, and learns nothing."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, WithoutHistory)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:
        """What happened, in one sentence."""
        if isinstance(incident, WithoutHistory) and incident.optimizer is not None:
            return f"{name} requires no gradient, though `{incident.optimizer}` is to train it"
        if isinstance(incident, WithoutHistory) and incident.by is not None:
            return f"{name} has no graph: {incident.by} cut it off from the parameters"
        return f"{name} has no graph: nothing leads from it to a parameter"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        is_known = isinstance(incident, WithoutHistory) and bool(incident.cut)
        if isinstance(incident, WithoutHistory) and incident.optimizer is not None:
            return ("unfreeze", "advice")
        by = incident.by or "" if isinstance(incident, WithoutHistory) else ""
        for sign, kind in _BY_SIGN.items():
            if sign in by:
                return (kind, "advice")
        return ("re-attach", "advice") if is_known else ("advice",)
