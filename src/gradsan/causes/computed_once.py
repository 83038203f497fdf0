from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind

CONSTRUCTORS = (".__init__", ".__post_init__")  # that of a dataclass calls the other


class ComputedOnce(Cause):
    """Something is computed from parameters once, before the loop, and used in every step.

    The line before the loop looks like preparation: embeddings propagated over a graph once an epoch (LightGCN), a
    scale that is the exponential of a parameter, a data set encoded by another network. But parameters go into it, so
    it is the first part of the forward pass, and its graph is a part of the graph of every loss that uses it. The first
    backward pass goes through it and frees it. The second step computes everything else again and meets the freed part.

    Freed memory is only half of the problem. After `optimizer.step()` the result is also out of date: it was computed
    from parameters that have changed since. Where the line happens to save nothing for backward (`w + 1`), PyTorch does
    not raise, and the training goes on with the old values (GS308). This is why `retain_graph=True` does not help: it
    keeps the old values in use, or leads to the in-place error (GS201).
    """

    code = "GS104"
    name = "computed-once"
    severity = "error"
    summary = "a graph created once from parameters, outside the loop, is used in every step"
    own_remedies = table(
        Remedy("detach", where=("creation", "use")),
        Remedy(
            "no-grad",
            where=("record", "creation"),
            first_if="it was drawn along",
            only_if_shown=True,
            trusted=False,
        ),
        Remedy("recompute", where=("attribute", "item", "use")),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"detach": "constant", "no-grad": "constant"}
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} where it is computed: its values stay, its graph is dropped",
        "recompute": "compute {it} again in every step, from the parameters as they are then",
    }
    asked = 30
    example = Example(
        program="""\
import torch

table = torch.nn.Embedding(4, 2)
adjacency = torch.full((4, 4), 0.25)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
nodes = adjacency @ table.weight
for pair in ([0, 2], [1, 3]):
    user, item = nodes[pair]
    loss = 1 - user.dot(item).sigmoid()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

table = torch.nn.Embedding(4, 2)
adjacency = torch.full((4, 4), 0.25)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for pair in ([0, 2], [1, 3]):
    nodes = adjacency @ table.weight
    user, item = nodes[pair]
    loss = 1 - user.dot(item).sigmoid()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    )
    fix = (
        "Move the line into the loop, before its first use, so that every step computes it from the current "
        "parameters. What does not depend on parameters (the adjacency, the positions) can stay outside."
    )
    unless = (
        "Not where these parameters are not to be trained here: a finished encoder that prepares the data, true "
        "weights that make synthetic targets. Then compute it once under `torch.no_grad()`, or detach it. If it is too "
        "slow for every step, take fewer and larger steps: add up the losses of several batches and call backward "
        "once for all of them."
    )
    tempting = Tempting(
        program="""\
import torch

table = torch.nn.Embedding(4, 2)
adjacency = torch.full((4, 4), 0.25)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
nodes = adjacency @ table.weight
for pair in ([0, 2], [1, 3]):
    user, item = nodes[pair]
    loss = 1 - user.dot(item).sigmoid()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print("up to date:", nodes.equal(adjacency @ table.weight))
""",
        shows="""\
up to date: False
up to date: False
""",
        price=(
            "`retain_graph=True` keeps the graph, and with it the old values: from the second step on, the loss is "
            "computed from `nodes` as they were before training began, and so is its gradient. No loss ever sees what "
            "a step has done."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        if not isinstance(incident, SecondPass) or not incident.updated_between:
            return False
        loop = incident.repetition
        if loop is None or loop.made != "before":
            return False
        # A GAN's fake, made once an iteration and used in several inner steps, is another network's output.
        return not (loop.created_in_outer_iteration and incident.owners.apart)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} was computed once, before the loop, and the first backward() in the loop freed its graph"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if not isinstance(incident, SecondPass) or not incident.owners.freed:  # nobody trains it
            return ("detach", "no-grad")
        # Whoever trains it does not step here: a teacher that was trained before. A trial says whether it does later.
        if incident.owners.served and not incident.owners.served & incident.owners.freed:
            return ("detach", "no-grad", "move-into-loop")
        # What the loss compares with, or weighs by: this iteration's forward trains the same parameters already.
        if incident.trained_again and not incident.is_operand:
            return ("detach", "no-grad", "move-into-loop")
        if any(frame.function.endswith(CONSTRUCTORS) for frame in incident.made.stack):  # none belongs in a loop
            return ("recompute", "move-into-loop")
        return ("move-into-loop", "recompute")
