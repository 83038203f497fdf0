from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class FunctionOwnBackward(Cause):
    """A custom `autograd.Function` runs a backward pass of its own over a graph that it kept.

    Layers for implicit gradients, reversible blocks and home-made checkpoints build a small graph in their `forward`,
    keep it on `ctx`, and call `torch.autograd.grad` on it in their `backward`. That inner call frees the inner graph as
    any pass does. When a pass comes to the layer a second time, because two losses use its output, the inner graph is
    gone.

    `retain_graph=True` on the outer call does not help, and this is how to recognise the case: the flag counts for the
    graph of the outer pass, and does not reach a pass that the layer starts itself. The last line of your own
    code in the traceback stands inside the Function's `backward`.
    """

    code = "GS113"
    name = "function-own-backward"
    severity = "error"
    summary = "a custom `autograd.Function` back-propagates a graph of its own; `retain_graph` does not reach it"
    titles: ClassVar[dict[FixKind, str]] = {
        "recompute": "call the Function again for each backward(), or create {it} again inside its `backward`",
        "retain-graph": "pass `retain_graph=True` to the call inside the Function's `backward`: {earlier}",
    }
    asked = 3
    example = Example(
        program="""\
import torch


class Soft(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x.exp().log1p()
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, grad):
        return torch.autograd.grad(ctx.y, ctx.x, grad)


out = Soft.apply(torch.ones(3, requires_grad=True))
out.mean().backward(retain_graph=True)
out.var().backward()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch


class Soft(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp().log1p()

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            y = x.exp().log1p()
        return torch.autograd.grad(y, x, grad)


out = Soft.apply(torch.ones(3, requires_grad=True))
out.mean().backward(retain_graph=True)
out.var().backward()
""",
    )
    fix = (
        "Save the inputs with `ctx.save_for_backward`, and build the inner graph inside `backward`, each time it is "
        "called. Then every pass has an inner graph of its own, PyTorch frees the saved inputs when it should, and it "
        "notices if they were edited in between. Tensors kept as plain attributes of `ctx` have none of this "
        "protection."
    )
    unless = (
        "Not where computing the inner graph again is too slow. Then pass `retain_graph=True` to the *inner* call; the "
        "inner graph stays in memory as long as the output's graph does. If only the two outer passes are the trouble, "
        "one backward over the sum of the losses goes through the layer once and needs no change in it."
    )
    tempting = Tempting(
        program="""\
import torch


class Soft(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x.exp().log1p()
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, grad):
        return torch.autograd.grad(ctx.y, ctx.x, grad)


out = Soft.apply(torch.ones(3, requires_grad=True))
out.mean().backward(retain_graph=True)
out.var().backward(retain_graph=True)
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        price=(
            "More `retain_graph=True` outside changes nothing: the inner call frees the inner graph at the first pass, "
            "whatever the outer calls ask for."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, SecondPass) and incident.own_backward

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"a custom Function calls backward on a graph of its own, {name}, and the first call freed that graph"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first. Where no other pass came in between, one backward of the Function asks for both."""
        orders = (incident.freeing.order, incident.failing.order) if isinstance(incident, SecondPass) else (None, None)
        is_one_call = None not in orders and orders[1] == orders[0] + 1  # type: ignore[operator] # asked for
        return ("retain-graph", "recompute") if is_one_call else ("recompute", "retain-graph")
