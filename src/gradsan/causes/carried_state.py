from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Evidence, Incident, SecondPass
from gradsan.report import FixKind


class CarriedState(Cause):
    """A tensor from an earlier step still carries that step's graph into this one.

    A hidden state, a memory, a running average or a previous output is kept between steps, for its values. But a tensor
    keeps its graph too. The forward of the next step uses the tensor, so the loss of that step is connected to the
    graph of the step before, and its backward pass goes there. That part was freed by the earlier backward pass.

    Nothing is wrong in the line that raises. It is the line that carries the tensor over the step's boundary that has
    to change.
    """

    code = "GS103"
    name = "carried-state"
    severity = "error"
    summary = "a tensor from an earlier step still carries that step's graph"
    own_remedies = table(
        Remedy("detach", where=("single use", "boundary", "use"), unless="nothing is left to train"),
        Remedy(
            "reset-state", where=("boundary", "collection"), first_if="the program resets it elsewhere", trusted=False
        ),
        Remedy("move-into-loop", where=("buffer",), first_if="it can be written", only_if_shown=True),
        Remedy("no-grad", where=("average",), first_if="it can be written", only_if_shown=True, trusted=False),
    )
    # It begins as in the first iteration; and what is put away to be aimed at is a constant from the start.
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {
        "reset-state": "begun",
        "move-into-loop": "begun",
        "no-grad": "stored",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} between the steps: its values stay, its graph is dropped",
        "move-into-loop": "create {it} inside the loop, new in every iteration",
    }
    asked = 40
    example = Example(
        program="""\
import torch

cell = torch.nn.RNNCell(3, 4)
h = torch.zeros(1, 4)
for _ in range(2):
    h = cell(torch.ones(1, 3), h)
    h.sum().backward()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

cell = torch.nn.RNNCell(3, 4)
h = torch.zeros(1, 4)
for _ in range(2):
    h = cell(torch.ones(1, 3), h.detach())
    h.sum().backward()
""",
    )
    fix = (
        "Detach the state between the steps. It keeps its values and drops its graph, so the gradient stops at the end "
        "of the step: truncated back-propagation through time. A state of several tensors "
        "(the pair of an LSTM, a list of layers) needs every one of them detached."
    )
    unless = (
        "Not where the gradient is meant to flow through several steps. Then make those steps one: add up their losses "
        "and call backward once, at the end, and detach only there. `retain_graph=True` does not help: every backward "
        "pass would go through all earlier steps, and after `optimizer.step()` PyTorch stops with the in-place error "
        "(GS201)."
    )
    tempting = Tempting(
        program="""\
import torch

cell = torch.nn.RNNCell(3, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(1, 4)
for _ in range(3):
    h = cell(torch.ones(1, 3), h)
    opt.zero_grad()
    h.sum().backward(retain_graph=True)
    opt.step()
""",
        shows="RuntimeError: one of the variables needed for gradient computation has been modified by an inplace",
        price=(
            "`retain_graph=True`, as the message advises, leads to the next error. The third backward pass goes back "
            "into the second step, whose graph saved a weight that `optimizer.step()` has changed since (GS201). "
            "Without an optimizer, or where no weight was saved, it runs, and every step is slower and larger than the "
            "one before (GS305)."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        if not isinstance(incident, SecondPass):
            return False
        loop = incident.repetition
        if loop is not None:
            return loop.made == "earlier" and loop.creator_ran_now and loop.memo is None
        # Without lines there are no iterations: one line asks again, and what it needs was made for its earlier pass.
        repeats = incident.failing.stack == incident.freeing.stack
        return repeats and not incident.made.stack and incident.made.step == incident.freeing.step

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"{name} still has the graph of an earlier step, and the backward() of that step freed it"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("detach", "reset-state")

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """A list whose old items are terms of the loss is emptied: as constants, they would only weigh in a mean.

        What a loss only aims at is computed without a graph, where all that is done with it is to put it away.
        """
        usual = super().remedy(kind, evidence)
        if kind == "reset-state" and evidence.get("old_part") == "a term of the loss":
            return replace(usual, first_if="it is filled for one pass", where=("collection", "boundary"))
        if kind == "no-grad" and evidence.get("old_part") == "a target of the loss":
            return replace(usual, where=("average", "put away"))
        return usual

    @classmethod
    def notes(cls, incident: Incident) -> tuple[str, ...]:
        """Why the usual answer is the wrong one."""
        ops = len(incident.consumed) if isinstance(incident, SecondPass) else 0
        # Source does not say how many.
        growth = f" (about {ops} more {'op' if ops == 1 else 'ops'} in each step)" if ops else ""
        return (
            (
                f"not `retain_graph=True`: every backward() would go through all earlier steps{growth}, and "
                "stop with the in-place error (GS201) where a layer saved a weight that the optimizer has changed"
            ),
        )
