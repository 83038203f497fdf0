from collections.abc import Iterator

from gradsan.causes.cause import Cause, Example, Finding, Places, Tempting
from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import Course, PassLine, Stale
from gradsan.facts.doubt import LIKELY, SURE
from gradsan.lifecycle.amounts import count
from gradsan.report import Culprit, FixKind

_SHOW_CARRYING = 2  # passes


class StaleGraph(Cause):
    """Something was computed from parameters that have been trained since, and passes still use it.

    A sum of two weights before the loop, a matrix of prototypes put together in a constructor, a cache that is filled
    at the first use: a tensor has the values that its inputs had when it was computed. `optimizer.step()` changes the
    parameters, and nothing computes the tensor again. The loss is that of the old parameters, and so is the gradient,
    which the optimizer takes for one of the present ones. Often the loss does not fall at all.

    Mostly PyTorch stops such a program: the first backward pass frees the graph, and the second raises (GS104, GS109).
    Where the ops save nothing for their backward, there is nothing to free, and nothing raises. That is so for sums,
    means, `cat`, `stack` and copies. With `retain_graph=True` it happens with others,
    too: a `Linear` layer at the very beginning saves its input and not its weight, an `Embedding` saves the indices,
    and PyTorch does not see that the weight has changed. A view is another matter: `weight.t()` or `weight[0]` has no
    values of its own, so it has always those of the parameter.
    """

    code = "GS308"
    name = "stale-graph"
    severity = "warning"
    summary = "values computed once from parameters that have been trained since are used in every step"
    own_remedies = table(
        Remedy("detach", where=("creation", "use"), drops_retain=True, trusted=False),
        Remedy("move-into-loop", where=("creation",), drops_retain=True, trusted=False),
        Remedy("recompute", where=("cache", "attribute", "use in the loop"), drops_retain=True, trusted=False),
    )
    roles = Cause.roles | {
        "made": "created here, from older parameters",
        "changed": "these parameters are changed here",
        "enters": "used again here",
        "used": "this {call} goes through the old graph again",
    }
    titles = {  # noqa: RUF012 # as in all causes
        "recompute": "compute {it} again in every step",
        "reset-state": "empty {it} after each step",
        "detach": "detach {it}, if its values should stay as they are",
        "no-grad": "compute {it} under `torch.no_grad()`, if its values should stay as they are",
    }
    example = Example(
        program="""\
import torch

base = torch.nn.Parameter(torch.zeros(2))
shift = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([base, shift], lr=0.125)
goal = torch.tensor([1.0, 2.0])
point = base + shift
for _ in range(4):
    opt.zero_grad()
    loss = (point - goal).square().sum()
    loss.backward()
    opt.step()
    print("loss:", loss.item())
""",
        shows="""\
loss: 5.0
loss: 5.0
loss: 5.0
loss: 5.0
""",
        fixed="""\
import torch

base = torch.nn.Parameter(torch.zeros(2))
shift = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([base, shift], lr=0.125)
goal = torch.tensor([1.0, 2.0])
for _ in range(4):
    opt.zero_grad()
    point = base + shift
    loss = (point - goal).square().sum()
    loss.backward()
    opt.step()
    print("loss:", loss.item())
""",
        fixed_shows="""\
loss: 5.0
loss: 1.25
loss: 0.3125
loss: 0.078125
""",
    )
    fix = (
        "Compute it in every step, from the parameters as they are then: move the line into the loop, take the "
        "computation from the constructor into `forward`, leave the cache out or clear it after each step."
    )
    unless = (
        "Not where the values are meant to stay as they are: the weights at the start, from which a penalty measures; "
        "targets; a teacher's outputs. Then they need no graph: `detach()` them, or compute them under "
        "`torch.no_grad()`. With the graph, `(weight - start).square()` trains nothing, for its two gradients cancel. "
        "A cache that is shared by several passes and cleared after each step is right as it is."
    )
    tempting = Tempting(
        program="""\
import torch

base = torch.nn.Parameter(torch.zeros(2))
shift = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([base, shift], lr=1.0)
goal = torch.tensor([1.0, 2.0])
point = base + shift
for _ in range(4):
    opt.zero_grad()
    loss = (point - goal).square().sum()
    loss.backward()
    opt.step()
    print("loss:", loss.item())
""",
        shows="""\
loss: 5.0
loss: 5.0
loss: 5.0
loss: 5.0
""",
        price=(
            "A loss that does not fall looks like a learning rate that is too small. Another one changes how fast the "
            "parameters move, always in the direction that was right before the first step; the loss is computed from "
            "the old values all the same, and the parameters run away."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Lines whose passes walk old ops again; but not where each adds to them (GS305)."""
        for line in course.lines:
            if not line.grows:
                yield from (cls._finding(each, line) for each in line.stale if cls._is_sure(each))

    @classmethod
    def _is_sure(cls, stale: Stale) -> bool:
        """Whether it is not the first use of what a later line fills again, as a cache with several entries."""
        return not stale.is_carried_on or stale.passes >= _SHOW_CARRYING

    @classmethod
    def _finding(cls, stale: Stale, line: PassLine) -> Finding:
        carried = stale.carried
        name = carried.name or (line.loss if stale.is_asked_for else None)
        places: Places = {"made": (carried.made, None), "used": (line.stack, stale.step or None)}
        if carried.enters:
            places["enters"] = (carried.enters, None)
        if stale.changed:
            places["changed"] = (stale.changed, None)
        return Finding(
            sentence=cls.sentence_of(name, stale.updates),
            kinds=cls.fixes_of(stale),
            places=places,
            culprit=Culprit(name, carried.holder or "local") if name else None,
            doubt=max(line.doubt, SURE if carried.certain or stale.is_asked_for else LIKELY),
            evidence={
                "steps": stale.updates or None,
                "graph_lines": "\n".join(f"{each.file}:{each.line}" for each in stale.creators) or None,
            },
            count=stale.passes or None,
        )

    @classmethod
    def sentence_of(cls, name: str | None, updates: int) -> str:
        """What happens; `updates`: in how many steps the parameters have changed, 0 where that is not known."""
        subject = f"`{name}`" if name else "a tensor"
        trained = f" in {count(updates, 'step')}" if updates else ""
        return (
            f"{subject} is out of date: it was computed from parameters that have changed{trained} since, and "
            "backward() goes through its old graph"
        )

    @classmethod
    def fixes_of(cls, stale: Stale) -> tuple[FixKind, ...]:
        """The best first, as for the errors of the same kind (GS103, GS104, GS109)."""
        if stale.is_carried_on:
            return ("detach",)
        if stale.is_asked_for:
            return ("move-into-loop", "recompute")
        # What the loss compares with, or weighs by: this iteration's forward trains the same parameters already.
        if stale.trained_again and not stale.is_operand:
            return ("detach", "no-grad", "move-into-loop")
        is_constructed = any(frame.function.endswith(CONSTRUCTORS) for frame in stale.carried.made)
        if stale.created_in_loop or is_constructed:
            return ("recompute", "reset-state", "detach")
        return ("move-into-loop", "recompute", "detach")
