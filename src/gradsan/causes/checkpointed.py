from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, SecondPass
from gradsan.report import FixKind


class Checkpointed(Cause):
    """The error appears only with activation checkpointing.

    The re-entrant kind of checkpoint (`use_reentrant=True`) runs its block without a graph. When the backward pass
    arrives there, it runs the block again, with a graph this time, and starts a backward pass of its own inside the
    one that is under way. Tensors that are arguments of `checkpoint` are cut off for that, and their gradients
    handed on. A tensor with a graph that gets into the block differently (a closure, `partial`, an attribute, a
    list among the arguments) is not cut off: the inner pass goes through it and frees its graph, and the next
    checkpoint that uses it finds that graph gone. Parameters may be read anywhere; they have no graph to free.

    State that the block stores on `self` while it runs leads to the same error. There need be only one
    `loss.backward()` in the program, and `retain_graph=True` on it has no effect, because it does not reach the
    inner passes.
    """

    code = "GS112"
    name = "checkpointed"
    severity = "error"
    summary = "only with activation checkpointing: the backward pass of a re-entrant checkpoint freed a shared graph"
    own_remedies = table(
        Remedy("setting", target="use_reentrant", where=("program",)),
    )
    titles: ClassVar[dict[FixKind, str]] = {
        "setting": "pass `use_reentrant=False` to every `checkpoint(...)`",
        "advice": "pass every tensor that the block uses as an argument of `checkpoint(...)`",
    }
    asked = 2
    example = Example(
        program="""\
import torch
from torch.utils.checkpoint import checkpoint

seeds = torch.ones(3, 3, requires_grad=True)
words = seeds.tanh()
x = torch.ones(2, 3, requires_grad=True)
for _ in range(2):
    x = checkpoint(lambda x: x @ words, x, use_reentrant=True)
x.sum().backward()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch
from torch.utils.checkpoint import checkpoint

seeds = torch.ones(3, 3, requires_grad=True)
words = seeds.tanh()
x = torch.ones(2, 3, requires_grad=True)
for _ in range(2):
    x = checkpoint(lambda x: x @ words, x, use_reentrant=False)
x.sum().backward()
""",
    )
    fix = (
        "Pass `use_reentrant=False`. This kind recomputes saved values without a backward pass inside the backward "
        "pass, so shared tensors stay whole, and `autograd.grad`, `inputs=` and `retain_graph` work. Say it "
        "explicitly: torch 2.13 still takes the re-entrant kind, with a warning, where the argument is left out. "
        "Trainers of other libraries have a setting for it (`gradient_checkpointing_kwargs` in Hugging Face)."
    )
    unless = (
        "If the re-entrant kind has to stay, make every tensor with a graph an argument of `checkpoint`. If the block "
        "keeps state on `self`, no setting is enough: the block runs twice, and the second run starts from the changed "
        "state, so even `use_reentrant=False` can give a wrong gradient without an error. Pass the state in as an "
        "argument and return it."
    )
    tempting = Tempting(
        program="""\
import torch
from torch.utils.checkpoint import checkpoint

seeds = torch.ones(3, 3, requires_grad=True)
words = seeds.tanh()
x = torch.ones(2, 3, requires_grad=True)
for _ in range(2):
    x = checkpoint(lambda x: x @ words, x, use_reentrant=True)
x.sum().backward(retain_graph=True)
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        price=(
            "`retain_graph=True` has no effect: it counts for the graph of the outer pass, and the graph is "
            "freed by the passes that the checkpoints start inside it. Taking the checkpoints out ends the error too, "
            "at the price of the memory they were put in to save."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, SecondPass) and incident.checkpointed

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"a re-entrant checkpoint runs a backward pass of its own, which has freed the graph of {name}"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("setting", "advice")
