from collections.abc import Iterator
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Places, Tempting
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import Course, Hoard, Holding
from gradsan.facts.doubt import LIKELY, SURE
from gradsan.lifecycle.amounts import count
from gradsan.report import Culprit, FixKind

_BYTES_AN_OP = 850  # of the process's memory, for an op that has nothing saved any more


class GraphLeak(Cause):
    """A total or a list keeps the graph of every step in memory.

    `running_loss += loss` and `losses.append(loss)` are meant to collect numbers. But a loss is a tensor that leads to
    its graph, and what is collected keeps that graph in memory, step after step. Nothing raises. Memory grows with
    every step, until the process or the GPU runs out of it, often hours later and in a line that has nothing to do with
    it.

    How fast depends on the backward pass. After `backward()` the saved values are freed, and only the chain of
    operations stays: that is little, but nothing ever frees it. Without it, as in a validation loop that
    forgot `torch.no_grad()`, all saved activations stay, and the GPU is soon full. `model.eval()` does not switch the
    recording off.

    A total need not be one of losses: a confusion matrix of probabilities, a sum of features or their moving average
    keeps the graph of every step as well.

    To see it, print what you collect: a number should stand there, without `grad_fn=`.
    """

    code = "GS301"
    name = "graph-leak"
    severity = "warning"
    counted_in_runs = True
    grows = True
    summary = "a total or a list of losses keeps the graph of every step in memory"
    own_remedies = table(
        Remedy("item", where=("kept",), by_assignment=True),
        Remedy("detach", where=("kept",), by_assignment=True),
        Remedy("no-grad", where=("measuring",), first_if="it can be written"),
    )
    roles = Cause.roles | {"held": "kept here, with its graph"}
    titles: ClassVar[dict[FixKind, str]] = {
        "item": "put only the number into {it}, not the tensor with its graph",
        "detach": "detach what is put into {it}: its values stay, its graph is dropped",
        "no-grad": "if nothing is trained with it: compute what is put into {it} under `torch.no_grad()`",
    }
    keeping_gradients = frozenset({"item", "detach", "no-grad"})
    example = Example(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor(4.0))
opt = torch.optim.SGD([weight], lr=0.25)
running_loss = 0.0
for _ in range(4):
    loss = weight.square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss
print(running_loss)
""",
        shows="tensor(21.2500, grad_fn=<AddBackward0>)\n",
        fixed="""\
import torch

weight = torch.nn.Parameter(torch.tensor(4.0))
opt = torch.optim.SGD([weight], lr=0.25)
running_loss = 0.0
for _ in range(4):
    loss = weight.square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss.item()
print(running_loss)
""",
        fixed_shows="21.25\n",
    )
    fix = (
        "Collect the number: `loss.item()`. On a GPU each `.item()` waits until the loss has been computed; where that "
        "matters, add up `loss.detach()` and call `.item()` once, when the total is printed. Put validation under "
        "`torch.no_grad()`. Outputs that are collected for a metric need `.detach()` as well."
    )
    unless = (
        "Not where the total is to be back-propagated, as in gradient accumulation over a few batches or the losses of "
        "one sequence: there the graph is the purpose. Call backward on it once, and begin the next total from 0."
    )
    tempting = Tempting(
        program="""\
import torch

weight = torch.nn.Parameter(torch.tensor(4.0))
opt = torch.optim.SGD([weight], lr=0.25)
running_loss = 0.0
for _ in range(4):
    loss = weight.square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss
    del loss
print(running_loss)
""",
        shows="tensor(21.2500, grad_fn=<AddBackward0>)\n",
        price=(
            "`del loss`, `gc.collect()` and `torch.cuda.empty_cache()` remove a name, cycles and unused blocks. The "
            "graphs are in use: the total leads to every one of them. Memory grows as before, and emptying the cache "
            "makes each step slower on top."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Names that collect graphs of steps which are over, or keep the one of the best step for good."""
        carried = {line.carried.name for line in course.lines if line.grows and line.carried is not None}
        stale = {frame for line in course.lines for each in line.stale for frame in each.creators}
        for each in course.holdings:
            is_walked = each.name in carried or not stale.isdisjoint(each.made[-1:])
            if is_walked:  # that is a growing graph, or a stale one
                continue
            if each.is_growing or each.is_for_good:
                yield cls._finding(each)
        known = {each.name for each in course.holdings}
        yield from (cls._hoarded(each) for each in course.hoards if each.name not in known)

    @classmethod
    def _finding(cls, holding: Holding) -> Finding:
        what = "the graph of a step that ended long ago"
        if holding.is_growing:
            steps = "all steps so far" if holding.most is None else count(holding.most.graphs, "step")
            what = f"the graphs of {steps}, and more with every step"
        return Finding(
            sentence=f"`{holding.name}` keeps {what}",
            kinds=("item", "detach", "no-grad") if holding.of_numbers else ("detach", "no-grad"),
            places=_places(holding),
            culprit=Culprit(holding.name, holding.holder),
            doubt=max(holding.doubt, SURE if holding.fed else LIKELY),
            evidence=_counted(holding),
            costs_bytes=_cost(holding),
            count=None if holding.most is None else holding.most.graphs,
        )

    @classmethod
    def _hoarded(cls, hoard: Hoard) -> Finding:
        forwards = "every forward" if hoard.graphs is None else count(hoard.graphs, "forward")
        return Finding(
            sentence=(
                f"`{hoard.name}` keeps the graphs of {forwards}{_until(hoard.function)}, and no backward() uses them"
            ),
            kinds=("no-grad", "item", "detach") if hoard.of_numbers else ("no-grad", "detach"),
            places=_places(hoard),
            culprit=Culprit(hoard.name, hoard.holder),
            doubt=max(hoard.doubt, SURE if hoard.fed else LIKELY),
            evidence={"graphs": hoard.graphs, "ops": hoard.ops, "saved_bytes": hoard.saved_bytes},
            costs_bytes=_cost(hoard),
            count=hoard.graphs,
        )


def _places(kept: Holding | Hoard) -> Places:
    places: Places = {"held": (kept.fed or kept.made, None)}
    if kept.fed and kept.made and kept.fed[-1].line != kept.made[-1].line:
        places["made"] = (kept.made, None)
    return places


def _until(function: str | None) -> str:
    if function is None:
        return ""
    return " until the end" if function == "<module>" else f" until `{function.rpartition('.')[2]}` returns"


def _cost(kept: Holding | Hoard) -> int:
    return (kept.saved_bytes or 0) + (kept.ops or 0) * _BYTES_AN_OP


def _counted(holding: Holding) -> dict[str, int | float | str | None]:
    most = holding.most
    if most is None or holding.ops is None:
        return {}
    steps = max(most.step - most.oldest, 1)
    return {
        "graphs": most.graphs,
        "ops": holding.ops,
        "saved_bytes": holding.saved_bytes,
        "graphs_per_step": round(most.graphs / steps, 3),
        "ops_per_step": round(holding.ops / steps, 1),
        "steps": most.step,
    }
