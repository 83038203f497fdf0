from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, Where, table
from gradsan.facts.incident import Evidence, Incident, SecondPass
from gradsan.report import FixKind


class GradFreedGraph(Cause):
    """An `autograd.grad` in the middle of the forward freed what the backward pass needs.

    `torch.autograd.grad` returns gradients instead of adding them to `.grad`, which makes it look like a question that
    changes nothing. It is a backward pass all the same, and it frees the operations it goes through. Derivatives in the
    loss of a physics-informed network, gradient penalties, the inner loop of meta-learning and saliency maps all take a
    gradient first and call `backward()` on something built on the same forward afterwards. A `backward()` that runs
    inside a forward does the same; in a hook, either of them frees what the pass that runs the hook has yet to reach.

    The message advises `retain_graph=True`. That silences the error and often trains the wrong thing: the gradient it
    returns is then a constant without a graph, so a loss term made of it does not reach the parameters.
    """

    code = "GS107"
    name = "grad-freed-graph"
    severity = "error"
    summary = "`autograd.grad`, an inner backward or a hook freed what a later backward needs"
    own_remedies = table(
        Remedy(
            "detach",
            where=("earlier loss",),
            first_if="the gradient is of a leaf beside it",
            only_if_shown=True,
            trusted=False,
        ),
        Remedy("create-graph", target="earlier pass", where=("earlier pass",), first_if="a gradient enters the loss"),
        Remedy("retain-graph", target="earlier pass", where=("earlier pass",), first_if="no gradient enters the loss"),
    )
    # Without a graph of its own, a gradient that enters the loss would be a constant there.
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"retain-graph": "created", "detach": "aimed"}
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} in the loss of {earlier}, which is there for something else",
        "recompute": "compute {it} again after {earlier}",
    }
    asked = 10
    example = Example(
        program="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
u = net(x)
(slope,) = torch.autograd.grad(u.sum(), x)
loss = (slope + u).square().mean()
loss.backward()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
u = net(x)
(slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
loss = (slope + u).square().mean()
loss.backward()
""",
    )
    fix = (
        "If the gradient is a part of the loss (a derivative, a penalty, an inner update that is trained through), "
        "pass `create_graph=True` to `autograd.grad`. It keeps the graph, and it also records how the gradient itself "
        "was computed, so that the loss can train through it."
    )
    unless = (
        "Not where the gradient is used only as a number: a saliency map, a step size, first-order meta-learning. "
        "There `create_graph=True` costs time and memory for second derivatives that nobody needs; use "
        "`retain_graph=True`, or take the gradient from a forward pass of its own. Prefer `autograd.grad` to "
        "`backward(create_graph=True)`: the latter ties each parameter and its `.grad` into a cycle that keeps memory."
    )
    tempting = Tempting(
        program="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
u = net(x)
(slope,) = torch.autograd.grad(u.sum(), x, retain_graph=True)
loss = (slope + u).square().mean()
loss.backward()
print("the slope is trained through:", slope.requires_grad)
""",
        shows="the slope is trained through: False\n",
        price=(
            "`retain_graph=True` ends the error and leaves the gradient a constant. The term made of it has a value, "
            "shows in the log, and trains nothing: a physics-informed network learns without its physics, a penalty "
            "does not penalise."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        if not isinstance(incident, SecondPass):
            return False
        freeing = incident.freeing
        return (freeing.kind == "grad" and not _is_of_a_library(incident)) or freeing.nested or freeing.in_forward

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:
        """What happened, in one sentence."""
        freeing = incident.freeing if isinstance(incident, SecondPass) else None
        is_inside = isinstance(incident, SecondPass) and incident.freed_inside
        if freeing is None or freeing.kind == "grad":
            earlier = "`autograd.grad` in a hook" if is_inside else "`autograd.grad`"
        elif is_inside:
            earlier = "a backward() in a hook"
        else:
            earlier = "a backward() inside another one" if freeing.nested else "a backward() inside the forward"
        later = "the backward() that runs the hook still needs" if is_inside else "the later backward() needs"
        return f"{earlier} freed the graph of {name}, which {later}"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first. What a hook returns is part of no loss, and a pass that runs goes through no new graph."""
        if isinstance(incident, SecondPass) and incident.freed_inside:
            return ("retain-graph",)
        if isinstance(incident, SecondPass) and incident.trains_inside:
            return ("detach", "retain-graph", "recompute")
        if not isinstance(incident, SecondPass) or incident.freeing.kind == "backward":
            return ("retain-graph", "recompute")
        # A gradient of the very loss is mostly looked at; one of something else becomes part of the loss.
        looked_at = incident.kinship != "none"
        return ("retain-graph", "create-graph") if looked_at else ("create-graph", "retain-graph", "recompute")

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """A part that trains itself within a forward does without the graph of what it is given."""
        usual = super().remedy(kind, evidence)
        if not _trains_inside(evidence):
            return usual
        where: tuple[Where, ...] = ("inner loss", "earlier loss") if kind == "detach" else usual.where
        return replace(usual, where=where, first_if=None, only_if_shown=False, cuts_later_pass=False)

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """Its pass is for its own optimizer, and the later one for those that step then."""
        is_apart = kind == "detach" and _trains_inside(evidence)
        return "apart" if is_apart else super().meaning(kind, evidence)


def _trains_inside(evidence: Evidence) -> bool:
    return "inner_pass_trains" in evidence


def _is_of_a_library(incident: SecondPass) -> bool:
    """Whether one line of the user's asked for both kinds of passes, in two runs of the forward: by one call."""
    loop, one_line = incident.repetition, incident.owners.one_line
    return one_line and incident.failing.kind == "backward" and loop is not None and loop.made == "earlier"
