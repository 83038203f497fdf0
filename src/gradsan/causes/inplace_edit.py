from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.incident import Edited, Evidence, Incident
from gradsan.report import FixKind


class InplaceEdit(Cause):
    """A tensor that was saved for the backward pass was edited in place.

    Operations save tensors, not copies: `sigmoid`, `tanh`, `exp`, `softmax` and `relu` save their result, a matrix
    product, `square` or `sin` their input. Every tensor counts its edits. If the count has changed by the time the
    backward pass arrives, the saved values are no longer those of the forward, and PyTorch stops instead of
    computing a wrong gradient.

    In-place edits are `h[:, 0] = 0`, `h += 1` (`h = h + 1` is none), methods that end in an underscore, and layers
    with `inplace=True`. Wrapping the edit in `torch.no_grad()`, or making it through `h.detach()`, changes nothing:
    the values are shared and so is the count.

    The same edit is harmless where nothing saved the tensor: the result of an addition, of a linear layer, of a
    leaky ReLU. That is why a line that worked for months fails once an activation is exchanged. The message gives
    the tensor's shape and the operation it came from, and not the line of the edit.
    """

    code = "GS202"
    name = "inplace-edit"
    severity = "error"
    summary = "a tensor saved for the backward pass was edited in place"
    own_remedies = table(
        Remedy("reorder", target="step", where=("later pass",), instead_of="clone"),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"reorder": "copied"}
    asked = 71
    roles = Cause.roles | {
        "made": "saved for backward() here",
        "changed": "changed in place here",
        "used": "this {call} needs the old values",
    }
    titles: ClassVar[dict[FixKind, str]] = {"reorder": "change {it} only after {later}, which needs the old values"}
    example = Example(
        program="""\
import torch

layer = torch.nn.Linear(3, 4)
gates = layer(torch.ones(8, 3)).sigmoid()
gates[:, 0] = 0.0
gates.sum().backward()
""",
        shows="RuntimeError: one of the variables needed for gradient computation has been modified by an inplace",
        fixed="""\
import torch

layer = torch.nn.Linear(3, 4)
gates = layer(torch.ones(8, 3)).sigmoid().clone()
gates[:, 0] = 0.0
gates.sum().backward()
""",
    )
    fix = (
        "Make a new tensor instead of editing the old one: `h = h + 1` for `h += 1`, a product with a mask or "
        "`torch.where` for an assignment to some entries, `inplace=False` in the layer. Where an assignment reads "
        "best, edit a copy: `h = h.clone()` first."
    )
    unless = (
        "Not where the edit can come before the tensor's first use; then move it there and copy nothing. If the "
        "edited tensor is a parameter and the editor an optimizer, a copy is the wrong fix: the step came too early "
        "(GS201). Never edit through `.data`: it is not counted, so the gradient is computed from the "
        "edited values without an error."
    )
    tempting = Tempting(
        program="""\
import torch

layer = torch.nn.Linear(3, 4)
gates = layer(torch.ones(8, 3)).sigmoid()
with torch.no_grad():
    gates[:, 0] = 0.0
gates.sum().backward()
""",
        shows="RuntimeError: one of the variables needed for gradient computation has been modified by an inplace",
        price=(
            "`torch.no_grad()` around the edit keeps it out of the graph and changes nothing about the error: the "
            "saved tensor is the edited one, and it counts its edits in any mode. `gates.data[:, 0] = …` is not "
            "counted and does end the error; the gradient is then computed from the edited values."
        ),
    )

    @classmethod
    def explains(cls, incident: Incident) -> bool:
        """Whether this is what happened."""
        return isinstance(incident, Edited)

    @classmethod
    def sentence(cls, name: str, incident: Incident) -> str:
        """What happened, in one sentence."""
        layer = incident.layer if isinstance(incident, Edited) else None
        if layer is not None and name == f"`{layer[0]}`":
            return (
                f"{name} ({layer[1]}, inplace=True) changed its input in place after an op had saved it for backward()"
            )
        return f"{name} was changed in place after an op had saved it for backward()"

    @classmethod
    def notes(cls, incident: Incident) -> tuple[str, ...]:
        """Which layer of a library's container it was, whatever the explanation calls the tensor."""
        layer = incident.layer if isinstance(incident, Edited) else None
        return () if layer is None else (f"`inplace=True` of `{layer[0]}` ({layer[1]}) makes this change",)

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """What an optimizer trains is changed below its step, which is to change the values that the gradient is of.

        A change of a copy would be lost to the network.
        """
        usual = super().remedy(kind, evidence)
        if not _is_trained(evidence):
            return usual
        return replace(usual, where=("later step",) if kind == "reorder" else ())

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """A change that comes later leaves what was saved, as a copy does; below the step, it is of other values."""
        if kind != "reorder":
            return super().meaning(kind, evidence)
        return "open" if _is_trained(evidence) else "copied"

    @classmethod
    def kinds(cls, incident: Incident) -> tuple[FixKind, ...]:
        """The best first."""
        if not isinstance(incident, Edited):
            return ("clone",)
        if any(each.is_leafs for each in incident.suspects):  # it has to change for good, where everybody sees it
            return ("reorder", "clone")
        if incident.value is None:
            return ("clone",)
        return ("clone", "reorder") if incident.value.op is None else ("clone",)


def _is_trained(evidence: Evidence) -> bool:
    return evidence.get("edited") == "what an optimizer trains"
