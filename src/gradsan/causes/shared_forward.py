from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class SharedForward(Cause):
    """Two losses of one forward pass are back-propagated one after the other.

    Both losses are built on the same features, so their graphs are not two but one that forks: each head has its own
    branch, and below the fork lies the part they share. The backward pass of the first loss goes through its branch and
    then the shared part, and frees both. The pass of the second loss gets through its own branch and stops where the
    fork begins.

    People look for the fault in the second loss, or believe that every loss has a graph of its own. Two losses that
    share nothing but the parameters and the input data can be back-propagated one after the other in any order; it is
    the shared intermediate result that makes the difference. Two heads on a trunk, the terms of a VAE, and a loop that
    calls `backward()` on every entry of a list of losses are the usual shapes.
    """

    code = "GS102"
    name = "shared-forward"
    severity = "error"
    summary = "two losses of one forward pass; the first backward pass freed the part they share"
    # Weights that are adapted for one task begin again for the next: only the source shows that.
    # Of two views that are predicted from each other, each is a target of the other.
    own_remedies = table(
        Remedy("move-into-loop", where=("buffer",), first_if="it can be written", only_if_shown=True),
        Remedy("detach", where=("predicted",), first_if="it can be written", only_if_shown=True, trusted=False),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"move-into-loop": "open", "recompute": "beside", "detach": "open"}
    titles: ClassVar[dict[FixKind, str]] = {
        "move-into-loop": "create {it} inside the loop, new in every iteration",
        "detach": "detach what each loss predicts: it is a target, and not to be trained",
    }
    asked = 60
    example = Example(
        program="""\
import torch

net = torch.nn.ModuleDict({"trunk": torch.nn.Linear(3, 4), "age": torch.nn.Linear(4, 1), "size": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
features = net["trunk"](torch.ones(8, 3)).relu()
loss_age = net["age"](features).square().mean()
loss_size = net["size"](features).square().mean()
loss_age.backward()
loss_size.backward()
opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

net = torch.nn.ModuleDict({"trunk": torch.nn.Linear(3, 4), "age": torch.nn.Linear(4, 1), "size": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
features = net["trunk"](torch.ones(8, 3)).relu()
loss_age = net["age"](features).square().mean()
loss_size = net["size"](features).square().mean()
(loss_age + loss_size).backward()
opt.step()
""",
    )
    fix = (
        "Add the losses up and call backward once. The gradient of a sum is the sum of the gradients, so `.grad` holds "
        "what two passes would have put there, and backward() goes through the shared part once instead of twice. "
        "Several optimizers are no obstacle: one pass, then every step."
    )
    unless = (
        "Not where each loss's gradient is needed by itself: to clip or weigh it, to compare the tasks, or because one "
        "of them must not count for some parameters. Then `retain_graph=True` on every call but the last is right, "
        "and costs memory only until the last one. If a loss must not train the shared part at all, give its head "
        "`features.detach()`. If an optimizer steps between the two passes, run the forward again for the second: the "
        "kept graph belongs to the old parameters (GS201)."
    )
    tempting = Tempting(
        program="""\
import torch

net = torch.nn.ModuleDict({"trunk": torch.nn.Linear(3, 4), "age": torch.nn.Linear(4, 1), "size": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
features = net["trunk"](torch.ones(8, 3)).relu()
loss_age = net["age"](features).square().mean()
loss_size = net["size"](features.detach()).square().mean()
loss_age.backward()
learnt = net["trunk"].weight.grad.clone()
loss_size.backward()
print("the trunk learns from loss_size:", not learnt.equal(net["trunk"].weight.grad))
opt.step()
""",
        shows="the trunk learns from loss_size: False\n",
        price=(
            "A `detach()` on the path to the second loss ends the error because that loss no longer reaches the shared "
            "part: the trunk is trained for one task only, and nothing says so. `retain_graph=True` on the first call "
            "is right about the gradients, but keeps all saved values and goes through the trunk twice."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, SecondPass)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} is part of two losses, and the first backward() freed the graph that they share"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if isinstance(incident, SecondPass) and incident.updated_between:
            return ("recompute", "combine-losses")
        if isinstance(incident, SecondPass) and (incident.cleared_between or incident.failing.kind == "grad"):
            return ("retain-graph", "recompute")  # the gradients of each loss are wanted apart
        return ("combine-losses", "retain-graph")
