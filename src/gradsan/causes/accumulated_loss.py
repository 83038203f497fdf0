from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class AccumulatedLoss(Cause):
    """A running total of losses is itself back-propagated in every step.

    `total += loss` looks like adding numbers. To PyTorch it is an operation like any other: the new total is connected
    to the graph of this loss and, through the old total, to the graphs of all losses before it. When `total.backward()`
    runs in the second step, it goes through this step's graph and then through that of the first step, which the first
    backward pass freed.

    The same total often hides in a meter object, and the average that the meter returns is what gets back-propagated.
    It is easily mistaken for a missing `zero_grad()`. That call empties `.grad` of the parameters and does not cut the
    total loose.
    """

    code = "GS105"
    name = "accumulated-loss"
    severity = "error"
    summary = "a running total of losses is itself back-propagated in every step"
    own_remedies = table(
        Remedy("item", where=("total",), trusted=False),
        Remedy("detach", where=("single use", "boundary", "use")),
        Remedy("combine-losses", where=("block", "total")),
        Remedy(
            "reset-state",
            where=("iteration", "collection"),
            first_if="several terms are added",
            only_if_shown=True,
            trusted=False,
        ),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = dict.fromkeys(
        ("combine-losses", "item", "detach", "remove-backward", "reset-state"), "term"
    )
    titles: ClassVar[dict[FixKind, str]] = {
        "item": "call backward() on this step's loss, and add only its number to {it}: `.item()`",
        "detach": "detach {it} before this step's loss is added: its values stay, its graph is dropped",
        "reset-state": "begin {it} again for every backward(): what is added in between is one loss",
        "combine-losses": "call backward() once, on {it}, when all losses are added",
        "remove-backward": "remove {later}: backward() was called on every loss in {it} already",
    }
    asked = 21
    example = Example(
        program="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for batch in torch.ones(16, 3).split(8):
    loss = model(batch).square().mean()
    total += loss
    opt.zero_grad()
    total.backward()
    opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for batch in torch.ones(16, 3).split(8):
    loss = model(batch).square().mean()
    total += loss.item()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    )
    fix = (
        "Back-propagate this step's loss, and keep the total as a plain number: `total += loss.item()`. Both changes "
        "belong together. With `total += loss` left as it is, nothing raises any more, but the total keeps the graph "
        "of every step alive (GS301)."
    )
    unless = (
        "Not where one update is meant to come from several batches. Then either add the losses up and call backward "
        "once, after the loop, and start again from 0; or call `loss.backward()` for each batch and step after the "
        "last one. The gradients are the same, and the second one keeps only one batch's graph in memory. Where the "
        "total is the loss of one iteration, of several tasks or heads, start it again in every iteration: "
        "`total = 0.0` at the top of the loop."
    )
    tempting = Tempting(
        program="""\
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for batch in torch.ones(16, 3).split(8):
    loss = model(batch).square().mean()
    total += loss
    opt.zero_grad()
    (alone,) = torch.autograd.grad(loss, model.bias, retain_graph=True)
    total.backward(retain_graph=True)
    opt.step()
    print(f"gradient {model.bias.grad.item():.3f}, of this loss alone {alone.item():.3f}")
""",
        shows="""\
gradient -1.189, of this loss alone -1.189
gradient -1.427, of this loss alone -0.238
""",
        price=(
            "`retain_graph=True` lets backward() go through the total again, so every loss counts again in all later "
            "steps: the hundredth update contains the gradient of the first batch for the hundredth time. Memory and "
            "time grow with every step as well (GS305)."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        if not isinstance(incident, SecondPass) or incident.kinship != "total":
            return False
        loop = incident.repetition
        # A total grows in every iteration; what this one did not create is no term of it, whichever losses it was in.
        return loop is None or loop.creator_ran_now

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} is a running total: it contains losses whose graphs earlier backward() calls have freed"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if isinstance(incident, SecondPass):
            owners, is_repeated = incident.owners, incident.failing.stack == incident.freeing.stack
            if owners.freed and not owners.fresh and not is_repeated:
                # Every term has been back-propagated: there is nothing left to do.
                return ("remove-backward", "item")
            if incident.additions > 1 and incident.updated_between:
                # Several terms since the last step: the total is this iteration's loss, and was not begun again.
                return ("reset-state",)
            if incident.carries_more and not incident.updated_between:  # a number alone would not end it
                return ("combine-losses", "item", "detach")
        return ("item", "detach")
