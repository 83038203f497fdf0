from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class CompiledTogether(Cause):
    """`torch.compile` made one op of parts that are separate in eager mode.

    In eager mode every call of a network leaves operations of its own, and a backward pass uses and frees only those
    that its loss depends on. A compiled function leaves one single op for its whole backward
    (`CompiledFunctionBackward`), and all its outputs belong to that op. A pass from one output uses it and frees it for
    all of them, also where the outputs have nothing in common but parameters.

    So the same code runs without `torch.compile` and raises with it; that is the sign to look for. A GAN whose scores
    for both updates come out of one compiled function is the usual case. Nothing has to be wrong with the losses.
    (The example uses the backend `aot_eager` because it needs no compiler; the default backend does the same.)
    """

    code = "GS111"
    name = "compiled-together"
    severity = "error"
    summary = "`torch.compile` made one op of separate parts, so the backward pass of one freed the other"
    titles: ClassVar[dict[FixKind, str]] = {"recompute": "call the compiled function once for each loss"}
    asked = 1
    example = Example(
        program="""\
import torch

critic = torch.nn.Linear(2, 1)


@torch.compile(backend="aot_eager")
def scores(real, fake):
    return critic(real).mean(), critic(fake).mean()


on_real, on_fake = scores(torch.ones(4, 2), torch.zeros(4, 2))
on_real.backward()
on_fake.backward()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

critic = torch.nn.Linear(2, 1)


@torch.compile(backend="aot_eager")
def score(points):
    return critic(points).mean()


on_real, on_fake = score(torch.ones(4, 2)), score(torch.zeros(4, 2))
on_real.backward()
on_fake.backward()
""",
    )
    fix = (
        "Compile what is back-propagated apart as a function of its own, and call it once for each part: every call "
        "leaves its own op. Where both losses go into the same update, one backward over their sum is shorter and "
        "leaves the compiled function as it is."
    )
    unless = (
        "Not where the outputs share real work, such as one encoder under two heads: calling twice would compute it "
        "twice, and eager mode would raise as well (GS102). Add the losses up, or pass `retain_graph=True` to the "
        "first call. Then each pass runs the whole compiled backward, for both outputs, and a function whose backward "
        "was already compiled by an ordinary pass may refuse the retained one (GS204)."
    )
    tempting = Tempting(
        program="""\
import torch

critic = torch.nn.Linear(2, 1)


@torch.compile(backend="aot_eager")
def scores(real, fake):
    return critic(real).mean(), critic(fake).mean()


on_real, on_fake = scores(torch.ones(4, 2), torch.zeros(4, 2))
on_real.backward(retain_graph=True)
on_fake.backward()
""",
        shows="",
        price=(
            "`retain_graph=True` on the first call works, and doubles the work: each of the two passes runs the whole "
            "compiled backward, for both outputs. It also depends on what came before. Where an ordinary pass has "
            "compiled this backward already, PyTorch refuses the retained one (GS204)."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, SecondPass) and incident.compiled

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"`torch.compile` put all that leads to {name} into one op, so the first backward() freed all of it"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("recompute", "retain-graph")
