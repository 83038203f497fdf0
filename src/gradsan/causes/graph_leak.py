from collections.abc import Iterator

from gradsan.causes.cause import Cause, Example, Finding, Places, Tempting
from gradsan.facts.course import Course, Hoard, Holding
from gradsan.lifecycle.amounts import count, size
from gradsan.report import Culprit

_BYTES_AN_OP = 850  # of the process's memory, for an op that has nothing saved any more


class GraphLeak(Cause):
    """The history of every step is kept alive by a total or a list.

    `running_loss += loss` and `losses.append(loss)` are meant to note numbers. But a loss is a tensor that leads to
    its graph, and what is noted keeps that graph alive, step after step. Nothing raises. Memory grows with every
    step, until the process or the GPU runs out of it, often hours later and in a line that has nothing to do with
    it.

    How fast depends on the backward pass. After `backward()` the saved values are freed, and only the chain of
    operations stays: little, but for ever, in the memory of the process. Without it, as in a validation loop that
    forgot `torch.no_grad()`, all saved activations stay, and the GPU is soon full. `model.eval()` does not switch
    the recording off.

    To see it, print what you collect: a number should stand there, without `grad_fn=`.
    """

    code = "GS301"
    name = "graph-leak"
    severity = "warning"
    summary = "history is kept alive step after step by a total or a list of losses"
    roles = Cause.roles | {"held": "kept, with all its history"}
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
        "Note the number: `loss.item()`. On a GPU each `.item()` waits until the loss has been computed; where that "
        "matters, add up `loss.detach()` and call `.item()` once, when the total is printed. Put validation under "
        "`torch.no_grad()`. Outputs that are collected for a metric need `.detach()` as well."
    )
    unless = (
        "Not where the total is to be back-propagated, as in gradient accumulation over a few batches or the losses of "
        "one sequence: there the history is the purpose. Call backward on it once, and begin the next total from 0."
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
        stale = {frame for line in course.lines for each in line.stale for frame in each.makers}
        for each in course.holdings:
            is_walked = each.name in carried or not stale.isdisjoint(each.made[-1:])
            if is_walked:  # that is a growing history, or a stale graph
                continue
            if each.is_growing or each.is_for_good:
                yield cls._finding(each)
        told = {each.name for each in course.holdings}
        yield from (cls._hoarded(each) for each in course.hoards if each.name not in told)

    @classmethod
    def _finding(cls, holding: Holding) -> Finding:
        last = max(holding.counts, key=lambda each: each.graphs)
        cost = holding.saved_bytes + holding.ops * _BYTES_AN_OP
        if holding.is_growing:
            what = f"the graphs of {count(last.graphs, 'step')}, and more with every step"
        else:
            what = "the graph of a step that is long over"
        places: Places = {"held": (holding.fed or holding.made, None)}
        if holding.fed and holding.made and holding.fed[-1].line != holding.made[-1].line:
            places["made"] = (holding.made, None)
        return Finding(
            sentence=(
                f"`{holding.name}` keeps {what}: {count(holding.ops, 'op')} stay in memory, with up to "
                f"{size(holding.saved_bytes)} of saved values"
            ),
            remedies=("item", "detach", "no-grad") if holding.of_numbers else ("detach", "no-grad"),
            places=places,
            culprit=Culprit(holding.name, holding.holder),
            confidence="certain" if holding.fed else "likely",
            evidence={
                "graphs": last.graphs,
                "ops": holding.ops,
                "saved_bytes": holding.saved_bytes,
                "graphs_per_step": round(holding.growth, 3),
                "ops_per_step": round(holding.ops / max(last.step - last.oldest, 1), 1),
                "steps": last.step,
            },
            costs_bytes=cost,
            count=last.graphs,
        )

    @classmethod
    def _hoarded(cls, hoard: Hoard) -> Finding:
        until = "the end" if hoard.function == "<module>" else f"`{hoard.function.rpartition('.')[2]}` returns"
        places: Places = {"held": (hoard.fed or hoard.made, None)}
        if hoard.fed and hoard.fed[-1].line != hoard.made[-1].line:
            places["made"] = (hoard.made, None)
        return Finding(
            sentence=(
                f"`{hoard.name}` keeps the graphs of {count(hoard.graphs, 'forward')} until {until}, and no backward "
                f"pass takes them: {count(hoard.ops, 'op')} stay in memory, with up to {size(hoard.saved_bytes)} of "
                "saved values"
            ),
            remedies=("no-grad", "item", "detach") if hoard.of_numbers else ("no-grad", "detach"),
            places=places,
            culprit=Culprit(hoard.name, hoard.holder),
            confidence="certain" if hoard.fed else "likely",
            evidence={"graphs": hoard.graphs, "ops": hoard.ops, "saved_bytes": hoard.saved_bytes},
            costs_bytes=hoard.saved_bytes + hoard.ops * _BYTES_AN_OP,
            count=hoard.graphs,
        )
