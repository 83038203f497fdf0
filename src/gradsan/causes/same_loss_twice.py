from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class SameLossTwice(Cause):
    """The same loss is back-propagated again.

    A forward pass leaves a graph behind: the operations that it ran, each with the values it needs to work out its
    gradient. A backward pass uses these saved values and frees them as it goes, because they take up so much memory. A
    second pass over the same loss finds them gone. (Additions and plain sums save nothing, so a toy example made of
    them can be back-propagated again without an error.)

    The two calls often do not stand together. The loss is computed once, before the loop that calls `backward()`; a
    closure for LBFGS returns a loss that was computed outside it; a function that reports gradients, or a hook of a
    trainer, calls `backward()` for itself.

    Two popular fixes do not help. `zero_grad()` clears gradients, and has nothing to do with graphs.
    `retain_graph=True` on the call that fails comes too late: it is the earlier call that frees.
    """

    code = "GS101"
    name = "same-loss-twice"
    severity = "error"
    summary = "the same loss is back-propagated again"
    own_remedies = table(
        Remedy("reset-state", where=("store",), trusted=False),
        Remedy("retain-graph", target="earlier pass", where=("earlier pass",), instead_of="recompute"),
    )
    titles: ClassVar[dict[FixKind, str]] = {
        "reset-state": "empty what still holds {it} after each step: backward() was called on it already",
    }
    asked = 20
    example = Example(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(8, 3), torch.ones(8, 1)
loss = (model(x) - y).square().mean()
for _ in range(2):
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(8, 3), torch.ones(8, 1)
for _ in range(2):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    )
    fix = (
        "Compute the loss again before every backward pass: the forward and the loss belong inside the loop, or inside "
        "the closure. If the second call is there by mistake, delete it; after the first one the gradients already "
        "stand in `.grad`."
    )
    unless = (
        "Not where nothing has changed since the first pass and its gradient is wanted once more, say to time the pass "
        "or to add it again. Then `retain_graph=True` belongs on every call but the last, and each call adds to "
        "`.grad`. After `optimizer.step()` that is wrong: the kept graph still belongs to the old parameters, so "
        "every pass returns the same old gradient, or PyTorch stops with the in-place error (GS201). If a guard "
        "skipped the lines that compute this step's loss, skip the update too (GS110)."
    )
    tempting = Tempting(
        program="""\
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(8, 3), torch.ones(8, 1)
loss = (model(x) - y).square().mean()
for _ in range(2):
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(f"loss {loss:.3f}, gradient of the bias {model.bias.grad.item():.3f}")
""",
        shows="""\
loss 2.543, gradient of the bias -3.189
loss 2.543, gradient of the bias -3.189
""",
        price=(
            "`retain_graph=True` ends the error, and the training with it: every pass goes through the graph of the "
            "first parameters again, so loss and gradient stay what they were, however many steps are made. Where a "
            "layer saved a weight, PyTorch stops with the in-place error instead (GS201)."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        if not isinstance(incident, SecondPass) or incident.kinship != "same":
            return False
        return incident.repetition is None or not incident.repetition.skipped

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} has already been through backward(), and that call freed its graph"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if not isinstance(incident, SecondPass):
            return ("recompute",)
        loop, repeats = incident.repetition, incident.failing.stack == incident.freeing.stack
        # An earlier iteration's loss, or one from an earlier run of this very loop, is still in store.
        if loop is not None and (loop.made == "earlier" or (repeats and loop.freed == 0)):
            return ("reset-state", "remove-backward")
        owners = incident.owners
        if owners.served and owners.freed - owners.served and not incident.cleared_between:
            return ("remove-backward", "recompute")  # the earlier pass gave the others' parameters their gradient, too
        if incident.updated_between:  # the later pass is meant to see the new parameters
            return ("move-into-loop", "recompute") if repeats else ("recompute",)
        # Where an optimizer trains what it leads to, and nothing changed, one pass was enough: the other is a slip.
        slip = incident.owners.freed and incident.failing.stack != incident.freeing.stack
        return ("remove-backward", "recompute") if slip else ("recompute", "retain-graph")
