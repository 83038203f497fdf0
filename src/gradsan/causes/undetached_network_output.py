from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Evidence, Incident, SecondPass
from gradsan.report import FixKind


class UndetachedNetworkOutput(Cause):
    """One network's output feeds another network's loss, and both are back-propagated.

    A generator makes `fake`, the discriminator judges it. Separate modules with separate optimizers look like
    separate graphs, but a graph follows tensors, not modules: the discriminator's loss on `fake` is connected to
    the generator, through `fake`. Its backward pass does not stop at the discriminator's input. It goes on through
    the generator, works out gradients that nobody asked for, and frees what the generator's own pass needs later.

    An actor and a critic meet in the same way, where the advantage in the actor's loss was computed by the critic;
    so do a student and a teacher that is still learning. An optimizer decides which parameters are changed, and has
    no say in where a pass stops. Both passes are right by themselves, which is why the error seems to make no
    sense: it stands at the second, and the line to change is where the first loss uses the output.
    """

    code = "GS106"
    name = "undetached-network-output"
    severity = "error"
    summary = "one network's output feeds another's loss, and both are back-propagated (GAN, actor and critic)"
    own_remedies = table(
        Remedy("detach", where=("hand-over", "use", "later loss", "target"), cuts_later_pass=False),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"detach": "apart", "recompute": "apart"}
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} in the loss that should not train its network: its values stay, its graph is dropped",
        "recompute": "create {it} again for {later}",
    }
    asked = 50
    example = Example(
        program="""\
import torch

generator, critic = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
fake = generator(torch.ones(8, 2)).tanh()
loss_c = critic(fake).square().mean()
loss_c.backward()
opt_c.step()
loss_g = (critic(fake) - 1).square().mean()
loss_g.backward()
opt_g.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

generator, critic = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
fake = generator(torch.ones(8, 2)).tanh()
loss_c = critic(fake.detach()).square().mean()
loss_c.backward()
opt_c.step()
loss_g = (critic(fake) - 1).square().mean()
loss_g.backward()
opt_g.step()
""",
    )
    fix = (
        "Detach the output where it enters the loss that should not train its maker: `critic(fake.detach())`. The "
        "critic's own gradients stay exactly the same, and the pass becomes cheaper. The generator's loss uses `fake` "
        "as it is, with a fresh call of the critic. That pass leaves gradients in the critic too, so clear them before "
        "the critic's next update."
    )
    unless = (
        "Not in the loss that is meant to train the first network through the second: detach there, and the generator "
        "learns nothing (GS203, GS306). Where the same output is used for several updates of its network, create it "
        "again for each. Where both losses should train both networks, add them up and call backward once (GS102)."
    )
    tempting = Tempting(
        program="""\
import torch

generator, critic = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
fake = generator(torch.ones(8, 2)).tanh()
loss_c = critic(fake).square().mean()
loss_c.backward(retain_graph=True)
print("the critic's loss trains the generator:", generator.weight.grad is not None)
opt_c.step()
loss_g = (critic(fake) - 1).square().mean()
loss_g.backward()
opt_g.step()
""",
        shows="the critic's loss trains the generator: True\n",
        price=(
            "`retain_graph=True` on the first pass ends the error, but that pass still goes through the generator. "
            "What it leaves in the generator's `.grad` is added to the generator's own gradient: it also learns to "
            "please the critic's loss, the opposite of what it is there for, unless it is cleared in between. And each "
            "pass pays for a network it should not touch."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened. A gradient that is asked for beside a backward() looks at the same loss."""
        if not isinstance(incident, SecondPass):
            return False
        return incident.owners.apart and incident.failing.kind == incident.freeing.kind

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return (
            f"{name} comes from a network with an optimizer of its own, and two backward() calls go through its graph"
        )

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first. A backward of its own, as a reversal has, is there to train what lies behind it."""
        if isinstance(incident, SecondPass) and incident.shaped_by is not None:
            return ("combine-losses", "retain-graph", "recompute")
        return ("detach", "recompute")

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """Both losses train what they share, where a backward of its own leads there."""
        return "held" if "own_backward" in evidence else super().meaning(kind, evidence)

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """Cut in the earlier loss, where that one is for others than the network's maker."""
        usual = super().remedy(kind, evidence)
        is_for_others = kind == "detach" and evidence.get("earlier_pass_trains") == "others"
        return replace(usual, where=("inner loss", "earlier loss")) if is_for_others else usual
