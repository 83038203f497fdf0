from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class StaleStep(Cause):
    """A guard skipped this step's forward, and the update ran on what the previous step left behind.

    A smaller last batch, a NaN, a sample without a target: an `if` around the forward lets such a batch pass. But
    the lines after it still run, and the names they use (`features`, `out`, `self.pooled`) still exist: they hold
    the tensors of the step before. The loss is built on those, and its backward pass goes into a graph that has
    been back-propagated already.

    The error depends on the data, so it looks random. It appears at the end of the first epoch, after a shuffle, or
    after days, and the batch that raises looks harmless. It is taken for carried state (GS103), yet nothing
    was meant to be carried. Silencing it with `detach()` or `retain_graph=True` makes it worse: where that works,
    the step trains once more on the batch before, and no message says so.
    """

    code = "GS110"
    name = "stale-step"
    severity = "error"
    summary = "a guard skipped this step's forward, and the update ran on what the previous step left"
    asked = 42
    titles: ClassVar[dict[FixKind, str]] = {
        "reorder": "let the `if` skip the whole step: forward, backward() and step() run together, or not at all",
        "recompute": "compute {it} in every step, also where the `if` skips it now",
        "detach": "detach {it} where it is computed: its values stay until it is computed again",
    }
    own_remedies = table(
        Remedy("reorder", target="later pass", where=("guard",), trusted=False),
        Remedy(
            "detach", where=("creation", "use"), first_if="it is renewed on schedule", only_if_shown=True, trusted=False
        ),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"reorder": "skipped", "detach": "constant"}
    example = Example(
        program="""\
import torch

encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for batch in torch.ones(10, 3).split(4):
    if len(batch) == 4:
        features = encoder(batch).relu()
    loss = head(features).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for batch in torch.ones(10, 3).split(4):
    if len(batch) != 4:
        continue
    features = encoder(batch).relu()
    loss = head(features).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    )
    fix = (
        "Let the guard skip the whole step: `continue` before anything is computed, so that forward, backward and "
        "`step()` run together or not at all. Where the forward is a method that may decline, let it return whether "
        "it ran, and ask. A `DataLoader` with `drop_last=True` never hands out the odd batch."
    )
    unless = (
        "Not where the odd batch should train as well. Most networks take a batch of any size (batch normalisation "
        "needs more than one sample); then remove the guard. In distributed training a rank that skips a step by "
        "itself leaves the others waiting for its gradients: let all ranks skip together, or run the batch and give "
        "its loss the weight 0. For a NaN only skipping helps, since 0 times NaN is NaN."
    )
    tempting = Tempting(
        program="""\
import torch

encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for batch in torch.ones(10, 3).split(4):
    if len(batch) == 4:
        features = encoder(batch).relu()
    loss = head(features).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(len(batch), "samples came,", len(features), "trained")
""",
        shows="""\
4 samples came, 4 trained
4 samples came, 4 trained
2 samples came, 4 trained
""",
        price=(
            "`retain_graph=True` (and `features.detach()` likewise) makes the odd step train once more on what the "
            "batch before left behind. Nothing raises any more, so nobody learns that a guard was open; every graph is "
            "now kept for the sake of one step an epoch."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        loop = incident.repetition if isinstance(incident, SecondPass) else None
        return loop is not None and loop.made == "earlier"

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"this step did not compute {name}: it used what the step before left behind"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("reorder", "recompute")
