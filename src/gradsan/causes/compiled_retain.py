from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Donated, Incident
from gradsan.report import FixKind


class CompiledRetain(Cause):
    """A compiled backward that may overwrite its saved values is asked to keep them.

    When `torch.compile` compiles a backward pass, it may take over saved intermediate values that nothing else can
    see, and use their memory again while the pass runs: they are *donated buffers*. After such a pass there is
    nothing left for a second pass. So a call with `retain_graph=True` or `create_graph=True` cannot be served,
    and PyTorch refuses it.

    Whether buffers are donated is decided when the backward is compiled, at its first pass. If that one was
    ordinary, they are, and a later retained pass raises; if the first pass was itself retained, they are not. So
    the error shows up in the second phase of a program: a benchmark after its warm-up, a second loss that is
    switched on later. The cache that the default backend keeps on disk can decide it too, and then the very first
    retained pass raises.
    """

    code = "GS204"
    name = "compiled-retain"
    severity = "error"
    summary = "`torch.compile` donated saved buffers, and a pass with `retain_graph` or `create_graph` needs them"
    own_remedies = table(
        Remedy("setting", target="donated_buffer", where=("program",)),
    )
    asked = 90
    roles = Cause.roles | {
        "freed": "this {call} gave its buffers away",
        "used": "this {call} asks to keep the graph",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "setting": "set `torch._functorch.config.donated_buffer = False` at the start of the program",
        "recompute": "run the forward again before each backward(), and remove `retain_graph=True`",
    }
    example = Example(
        program="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
model = torch.compile(net, backend="aot_eager")
x = torch.ones(8, 3)
model(x).mean().backward()
loss = model(x).mean()
for _ in range(2):
    loss.backward(retain_graph=True)
""",
        shows="RuntimeError: This backward function was compiled with non-empty donated buffers",
        fixed="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
model = torch.compile(net, backend="aot_eager")
x = torch.ones(8, 3)
model(x).mean().backward()
for _ in range(2):
    loss = model(x).mean()
    loss.backward()
""",
    )
    fix = (
        "Do without the retained graph. Run the forward again before each pass, also in a benchmark: training does "
        "not retain either. Two losses of one forward are added up and back-propagated once (GS102)."
    )
    unless = (
        "If several passes really have to go through one graph, set `torch._functorch.config.donated_buffer = False`, "
        "as the message says, but set it before the model is first called, and run with "
        "`TORCHINDUCTOR_FX_GRAPH_CACHE=0` in the environment or from an emptied cache. The setting also switches off "
        "the check. With torch 2.13, if the backward was compiled before, in this run or in an earlier one that the "
        "cache remembers, the second pass can return a wrong gradient without an error. Second derivatives stay "
        "impossible: compiled functions do not support double backward, so leave that part of the model uncompiled."
    )
    tempting = Tempting(
        program="""\
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
model = torch.compile(net, backend="aot_eager")
x = torch.ones(8, 3)
model(x).mean().backward()
torch._functorch.config.donated_buffer = False
loss = model(x).mean()
for _ in range(2):
    loss.backward(retain_graph=True)
""",
        shows="",
        price=(
            "The setting that the message names, made where the error appears, switches the check off and not the "
            "donation: the backward that an ordinary pass compiled still overwrites its buffers. `aot_eager` "
            "overwrites nothing, so here it happens to work. With the default backend of torch 2.13, the second "
            "pass returns a wrong gradient, without an error."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, Donated)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"the compiled backward of {name} gives its buffers away, so it cannot keep the graph as this call asks"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("setting", "recompute")
