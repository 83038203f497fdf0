from collections.abc import Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Incident, ReadAfterFree
from gradsan.report import FixKind


class SavedAfterFree(Cause):
    """Saved values of an operation were read after a pass had freed them.

    The message is the same as for a second backward pass, but there was none; its bracket "or directly access saved
    tensors" is the part that applies. An operation keeps what it needs for its gradient: built-in ones under names
    such as `grad_fn._saved_result`, a custom `autograd.Function` in `grad_fn.saved_tensors`. Code that looks at
    activations, draws the graph or debugs a layer reads them there. After a backward pass they are gone, and PyTorch
    raises rather than hand out something else.

    So the line that raises need not contain `backward` at all, and there is no second pass to look for. The pass that
    freed the values is an ordinary one, and may be the only one in the program.
    """

    code = "GS108"
    name = "saved-after-free"
    severity = "error"
    summary = "saved tensors of a freed op were read directly"
    own_remedies = table(
        Remedy("reorder", target="reading", where=("earlier pass",)),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"reorder": "kept", "clone": "kept"}
    asked = 91
    titles: ClassVar[dict[FixKind, str]] = {
        "reorder": "read the saved values of {it} before {earlier}",
        "clone": "keep a copy of the values that you want to read, before {earlier}",
    }
    roles = Cause.roles | {"used": "this line reads its saved values, but they are gone"}
    example = Example(
        program="""\
import torch

layer = torch.nn.Linear(3, 2)
out = layer(torch.ones(4, 3)).exp()
loss = out.mean()
loss.backward()
largest = out.grad_fn._saved_result.max()
""",
        shows="RuntimeError: Trying to backward through the graph a second time",
        fixed="""\
import torch

layer = torch.nn.Linear(3, 2)
out = layer(torch.ones(4, 3)).exp()
loss = out.mean()
largest = out.grad_fn._saved_result.max()
loss.backward()
""",
    )
    fix = (
        "Read them before the backward pass. Better still, do not read them from the graph: keep the tensor itself "
        "(`out.detach()`), return it from the forward, or catch it with a forward hook of the module. Names such as "
        "`_saved_result` are private and differ between operations."
    )
    unless = (
        "If the value has to be seen at the moment the pass uses it, read it in a hook on the operation "
        "(`out.grad_fn.register_prehook`): there it is not freed yet. In a short debugging run `retain_graph=True` "
        "on the pass also keeps it readable; take it out again afterwards, since it keeps all other saved values too."
    )
    tempting = Tempting(
        program="""\
import torch

layer = torch.nn.Linear(3, 2)
out = layer(torch.ones(4, 3)).exp()
loss = out.mean()
loss.backward(retain_graph=True)
largest = out.grad_fn._saved_result.max()
""",
        shows="",
        price=(
            "`retain_graph=True` on the pass keeps the value readable, together with every other saved value of the "
            "graph, for as long as `out` or `loss` lives: the memory of the whole forward, to look at one tensor. In a "
            "training loop that is the peak of two steps instead of one (GS302)."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, ReadAfterFree)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:  # noqa: ARG003 # the name says it all
        """What happened, in one sentence."""
        return f"the saved values of {name} were read after a backward() had freed them"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:  # noqa: ARG003 # always the same
        """The best first."""
        return ("reorder", "clone", "retain-graph")
