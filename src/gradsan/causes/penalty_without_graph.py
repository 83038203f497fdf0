from collections.abc import Iterator
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Tempting
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import ConstantTerm, Course
from gradsan.report import Culprit, FixKind


class PenaltyWithoutGraph(Cause):
    """A term of the loss is made of gradients that have no graph, so it trains nothing.

    `torch.autograd.grad` gives back plain values, unless it is asked with `create_graph=True` to record how it
    computed them. A gradient penalty (WGAN-GP, R1), a contractive penalty or the residual of a physics-informed network
    that is made of plain values is a constant, whatever the network does. Added to a loss that has a graph of its own,
    it changes the number that is printed, and not one gradient.

    If the whole loss were made of such values, `backward()` would raise (GS203). Beside another term nothing raises.
    The penalty even moves from step to step, because the network that it is measured on is trained by the other term,
    so a curve of it looks alive. But nothing pulls it down, and the training is that of the same loss without it.
    """

    code = "GS309"
    name = "penalty-without-graph"
    severity = "warning"
    summary = "a term of the loss is computed from gradients without a graph: it trains nothing"
    roles = Cause.roles | {
        "cut": "these gradients have no graph",
        "enters": "added to the loss here, as a constant",
        "used": "this {call} trains nothing through it",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "create-graph": "pass `create_graph=True` to {earlier}, so that the gradients have a graph",
    }
    own_remedies = table(Remedy("create-graph", target="earlier pass", where=("earlier pass",), trusted=False))
    example = Example(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor(5.0))
opt = torch.optim.SGD([weight], lr=0.1)
for _ in range(50):
    x = torch.ones(4, requires_grad=True)
    (slope,) = torch.autograd.grad((weight * x).sum(), x)
    penalty = (slope - 1).square().mean()
    loss = penalty - (weight * torch.ones(4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"slope {weight.item():.2f}, penalty {penalty.item():.2f}")
""",
        shows="slope 10.00, penalty 79.21\n",
        fixed="""\
import torch

weight = torch.nn.Parameter(torch.tensor(5.0))
opt = torch.optim.SGD([weight], lr=0.1)
for _ in range(50):
    x = torch.ones(4, requires_grad=True)
    (slope,) = torch.autograd.grad((weight * x).sum(), x, create_graph=True)
    penalty = (slope - 1).square().mean()
    loss = penalty - (weight * torch.ones(4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"slope {weight.item():.2f}, penalty {penalty.item():.2f}")
""",
        fixed_shows="slope 1.50, penalty 0.25\n",
    )
    fix = (
        "Pass `create_graph=True` to the `autograd.grad` whose result enters the loss. The gradients are then part of "
        "the graph, and backward() goes through them to the parameters. A `retain_graph=True` beside it can go: it is "
        "implied. `print(penalty.requires_grad)` shows for any term whether it can train something."
    )
    unless = (
        "Not where the gradients are data: a weight that balances two losses, an attack that moves the input, a map of "
        "what the network looks at, a number for the log. There they are multiplied, stored or shown and not added, "
        "and `create_graph=True` would spend time and memory on derivatives that nobody needs; say so with "
        "`.detach()`. If the term is in the sum only to be printed with it, print it by itself."
    )
    tempting = Tempting(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor(5.0))
opt = torch.optim.SGD([weight], lr=0.1)
for _ in range(50):
    x = torch.ones(4, requires_grad=True)
    (slope,) = torch.autograd.grad((weight * x).sum(), x, retain_graph=True)
    penalty = (slope - 1).square().mean().requires_grad_()
    loss = penalty - (weight * torch.ones(4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"slope {weight.item():.2f}, penalty {penalty.item():.2f}")
""",
        shows="slope 10.00, penalty 79.21\n",
        price=(
            "`retain_graph=True` keeps the graph that the gradients were computed from, and records nothing of how. "
            "`requires_grad_()` makes the penalty a leaf: it receives a gradient of 1, and that is where it ends. Both "
            "look like the missing connection, and the critic's slope grows as before."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Terms that are added to a loss, made of gradients that depend on what the loss trains."""
        yield from map(cls._finding, course.constant_terms)

    @classmethod
    def _finding(cls, term: ConstantTerm) -> Finding:
        made_of = f"`{term.name}`" if term.name else "gradients"
        return Finding(
            sentence=(
                f"a term of the loss trains nothing: it is computed from {made_of}, which `autograd.grad` returned "
                "without a graph"
            ),
            kinds=("create-graph",),
            places={"cut": (term.asked, None), "enters": (term.enters, None), "used": (term.used, None)},
            culprit=Culprit(term.name, term.holder) if term.name else None,
            doubt=term.doubt,
            evidence={"passes": term.passes},
            count=term.passes,
        )
