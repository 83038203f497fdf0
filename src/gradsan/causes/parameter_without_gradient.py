from collections.abc import Iterator, Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, Sign, table
from gradsan.facts.course import Course, CutOff, Slot, Unowned
from gradsan.facts.doubt import LIKELY
from gradsan.facts.incident import REENTRANT
from gradsan.report import Culprit, FixKind

_SHOWN = 4  # names of parameters
_CUTS: dict[str, str] = {
    "detach": "`detach()`",
    "data": "`.data`",
    "no-grad": "`torch.no_grad()`",
    "checkpoint": REENTRANT,
    "number": "turning it into a number",
    "numpy": "the path through numpy",
    "new-tensor": "copying it into a new tensor",
}


_KINDS_OF_UNOWNED: Mapping[str, tuple[FixKind, ...]] = {
    "listed": ("setting", "advice"),
    "replaced": ("reorder", "advice"),
    "exchanged": ("reorder", "advice"),
    "computed": ("advice",),
    "plain": ("advice",),
}
_WRITTEN: Sign = "it can be written"
_REGISTERING: Mapping[str, tuple[str, ...]] = {
    "computed": ("keep the `nn.Parameter` itself as an attribute, and compute in `forward()` what is needed of it",),
    "plain": ("make it an `nn.Parameter`",),
}


class ParameterWithoutGradient(Cause):
    """An optimized parameter never receives a gradient, because something cut it off from the loss.

    A `detach()`, a `torch.no_grad()` block or a conversion to numpy and back lies between the parameter and the loss.
    The rest of the network is still connected, so `backward()` has a graph to go through and does not raise, as it
    would if all of it were cut off (GS203). The pass never gets to the parameter, its `.grad` stays `None`, and the
    optimizer skips it: not even weight decay is applied.

    The loss falls all the same, since the later layers learn to live with what the untrained part gives them. That
    is why it goes unnoticed: the encoder keeps its random weights, and the result is worse than it could be. A
    common origin is a `detach()` put in the wrong place to stop the error about a second backward pass.

    A single term can be cut off, while others still train the parameters: a generator's loss that judges the detached
    output, or a reconstruction of what `sample()` drew. A draw has no graph; `rsample()` gives the same values with
    one. (A score function, as in policy gradients, asks for the probability of the draw instead, and is right to
    sample.)

    The opposite has the same effect: a parameter receives gradients, and no optimizer has it. An optimizer knows the
    parameters that it was created with. A layer that is put into the model later is none of them, and neither is one
    that the model keeps in a plain list, of which `parameters()` does not know. Nor does it know of a plain tensor:
    `nn.Parameter(…).squeeze()` gives one, and the parameter that it was computed from is nobody's.

    So it is where a parameter is replaced: `self.step = nn.Parameter(…)` in a first forward, a wider head for new
    classes. The optimizer goes on with the old one, which nothing leads to any more. Write the new values into the
    parameter that is there, `with torch.no_grad(): self.step.copy_(…)`, create the optimizer below that line, or give
    it the new part with `add_param_group`. A fix is verified by a run of the program as it is, in which the new part
    takes the place of the old one in the optimizer, with the settings of its group.
    """

    code = "GS306"
    name = "parameter-without-gradient"
    severity = "warning"
    titles: ClassVar[dict[FixKind, str]] = {
        "reorder": "create the optimizer below the last line that changes the model",
        "no-grad": "keep the parameter that the optimizer has, and copy the new values into it under `torch.no_grad()`",
        "setting": "keep the layers of {it} in an `nn.ModuleList`",
        "move-into-loop": "read {it} in every iteration, and do not cut it off there: {cut}",
        "advice": "give the optimizer these parameters, too",
    }
    own_remedies = table(
        Remedy("no-grad", where=("replacement",), first_if=_WRITTEN, trusted=False),
        Remedy(
            "reorder",
            target="optimizer",
            where=("below the model", "below the replacement"),
            first_if=_WRITTEN,
            trusted=False,
        ),
        Remedy("advice", target="optimizer", where=("below the replacement",), first_if=_WRITTEN, trusted=False),
        Remedy("setting", target="layers", where=("program",), trusted=False),
        Remedy("move-into-loop", target="nothing"),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {
        "no-grad": "owned",
        "reorder": "owned",
        "advice": "owned",
        "setting": "owned",
        "move-into-loop": "attached",
    }
    roles = Cause.roles | {
        "made": "the optimizer was created here",
        "changed": "replaced here",
        "used": "this step leaves them as they are",
    }
    summary = "a detach or `no_grad` cuts an optimized parameter off from every loss"
    example = Example(
        program="""\
import torch

net = torch.nn.ModuleDict({"encoder": torch.nn.Linear(3, 4), "head": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.ones(4, 8, 3):
    code = net["encoder"](batch).tanh().detach()
    loss = net["head"](code).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("without gradient:", [name for name, each in net.named_parameters() if each.grad is None])
""",
        shows="without gradient: ['encoder.weight', 'encoder.bias']\n",
        fixed="""\
import torch

net = torch.nn.ModuleDict({"encoder": torch.nn.Linear(3, 4), "head": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.ones(4, 8, 3):
    code = net["encoder"](batch).tanh()
    loss = net["head"](code).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("without gradient:", [name for name, each in net.named_parameters() if each.grad is None])
""",
        fixed_shows="without gradient: []\n",
    )
    fix = (
        "Take the cut out, or move it to where it is needed: onto the state that crosses into the next step, or onto "
        "the copy that is only logged or plotted. The last line of the example, put after the first backward pass, "
        "shows for any model which parameters are cut off."
    )
    unless = (
        "Not where the part is frozen on purpose, say a pretrained encoder under a new head. Then say so where a "
        "reader looks for it: `requires_grad_(False)` on its parameters, and only the others for the optimizer. A "
        "parameter that just this batch did not need (another branch, another expert) is no mistake; it receives its "
        "gradient later."
    )
    tempting = Tempting(
        program="""\
import torch

net = torch.nn.ModuleDict({"encoder": torch.nn.Linear(3, 4), "head": torch.nn.Linear(4, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.ones(4, 8, 3):
    code = net["encoder"](batch).tanh().detach().requires_grad_()
    loss = net["head"](code).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("without gradient:", [name for name, each in net.named_parameters() if each.grad is None])
""",
        shows="without gradient: ['encoder.weight', 'encoder.bias']\n",
        price=(
            "`requires_grad_()` behind the cut gives `code` a gradient of its own, and that is where it ends: the "
            "tensor is a leaf, with no path back to the encoder. The program looks repaired, and trains as much as "
            "before."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Parameters of an optimizer that ran in the forward, and were cut off on the way to the loss."""
        # Where a loss is forgotten that alone trains them, that is the explanation.
        forgotten = {module for loss in course.left_out if not loss.is_used for module in loss.alone}
        yield from (cls._finding(each) for each in course.cut_off if each.is_habit and each.module not in forgotten)
        yield from (cls._unowned(each) for each in course.unowned if each.is_habit)

    @classmethod
    def _unowned(cls, found: Unowned) -> Finding:
        slot = found.slot
        name = found.kept_in if slot is None else slot.name
        kinds = _KINDS_OF_UNOWNED[found.how]
        return Finding(
            sentence=_never_updated(found),
            kinds=("no-grad", *kinds) if slot is not None and slot.is_parameter else kinds,
            places={
                "made": (found.created, None),
                "changed": (() if slot is None else slot.replaced, None),
                "used": (found.step, None),
            },
            culprit=Culprit(name, "attribute") if name else None,
            doubt=LIKELY,
            evidence={"parameters": len(found.parameters) or None},
            notes=_REGISTERING.get(found.how, ()),
        )

    @classmethod
    def _finding(cls, cut: CutOff) -> Finding:
        how = _CUTS.get(cut.how, cut.how)
        shown = _shown(cut.parameters) or f"parameters of `{cut.module}`"
        receives, them = ("receives", "it") if len(cut.parameters) == 1 else ("receive", "them")
        if cut.is_late:
            never = f"{receives} no gradient any more, from some time on"
        elif cut.steps is None:
            never = f"never {receives} a gradient"
        else:
            never = f"{'has' if receives == 'receives' else 'have'} never received a gradient in {cut.steps} steps"
        if cut.is_term:
            sentence = f"a term of the loss trains nothing: {how} cuts the graph of `{cut.name}`"
        elif cut.is_drawn:
            sentence = f"{shown} {receives} no gradient through what is drawn here: {how} cuts its graph"
        else:
            between = f"{how} cuts the graph between {them} and the loss"
            sentence = f"{shown} {never}, though the optimizer has {them}: {between}"
        return Finding(
            sentence=sentence,
            kinds=("move-into-loop",) if cut.is_earlier else ("re-attach",),
            places={"cut": (cut.cut, None)},
            culprit=Culprit(cut.name, "local") if cut.name else None,
            doubt=cut.doubt,
            evidence={"parameters": len(cut.parameters) or None, "steps": cut.steps},
        )


def _never_updated(found: Unowned) -> str:
    are, them = ("is", "it") if len(found.parameters) == 1 else ("are", "them")
    shown = _shown(found.parameters)
    if found.slot is not None:
        when = "while the model was trained" if found.how == "exchanged" else "after the optimizer was created"
        if found.slot.also:
            why = f"they were replaced {when}, and the optimizer still has the old ones"
            return f"{_written(found.slot)} are never updated, and no optimizer has them: {why}"
        why = f"it was replaced {when}, and the optimizer still has the old one"
        return f"{_written(found.slot)} is never updated, and no optimizer has it: {why}"
    match found.how:
        case "computed":
            it, why = f"`{found.kept_in}`", "no module has the parameter itself, and no optimizer"
            return f"{it} is computed from a parameter that is never updated: {why}"
        case "plain":
            shown, why = f"`{found.kept_in}`", "it is no `nn.Parameter`, and `parameters()` knows of no other tensors"
        case "listed":
            shown, why = f"the layers in `{found.kept_in}`", "`parameters()` does not know of a plain list"
        case "exchanged":
            why = "they came into the model while it was trained, and the optimizer still has those that they replaced"
        case "replaced":
            why = "the optimizer was created before, and still has the parameters that the model had then"
    return f"{shown} {are} never updated, and no optimizer has {them}: {why}"


def _written(slot: Slot) -> str:
    """The attributes, as their class writes them, and in how many objects."""
    names = _shown((slot.name, *slot.also))
    if slot.owner is None:
        return names
    many = f" ({slot.objects} objects)" if slot.objects > 1 else ""
    return f"{names} of `{slot.owner}`{many}"


def _shown(parameters: tuple[str, ...]) -> str:
    more = f" and {len(parameters) - _SHOWN} more" if len(parameters) > _SHOWN else ""
    return ", ".join(f"`{each}`" for each in parameters[:_SHOWN]) + more
