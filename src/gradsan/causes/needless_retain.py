from collections.abc import Iterator

from gradsan.causes.cause import Cause, Example, Finding, Tempting
from gradsan.facts.course import Course, PassLine
from gradsan.report import Culprit


class NeedlessRetain(Cause):
    """A graph is retained, and no later backward pass uses it.

    `retain_graph=True` does one thing: the backward pass leaves the saved values in place. They stay in memory
    until the last tensor that leads to them is gone. In a training loop that is `loss`, which holds the old graph
    until the next loss takes its name. So the next forward builds its graph while the old one is still there, and
    at the peak the saved values of two steps are in memory instead of one. The example counts what a pass leaves
    behind.

    Mostly the flag is what remains of an old error message, or of an article that recommends it for any two
    networks. Two losses that share no part of a forward never needed it. It also hides mistakes: a tensor carried
    over from an earlier step raises without it (GS103), and with it makes every step slower than the last (GS305).
    """

    code = "GS302"
    name = "needless-retain"
    severity = "warning"
    counted_in_runs = True
    summary = "`retain_graph=True` keeps a graph in memory that no later backward pass uses"
    roles = Cause.roles | {"used": "this {call} keeps the graph, and nothing uses it"}
    keeping_gradients = frozenset({"remove-retain"})
    example = Example(
        program="""\
import torch


class Saved:
    alive = 0

    def __init__(self, tensor):
        self.tensor = tensor.detach()
        Saved.alive += 1

    def __del__(self):
        Saved.alive -= 1


model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
with torch.autograd.graph.saved_tensors_hooks(Saved, lambda saved: saved.tensor):
    loss = model(torch.ones(8, 3)).square().mean()
loss.backward(retain_graph=True)
print("saved values still in memory:", Saved.alive)
""",
        shows="saved values still in memory: 5\n",
        fixed="""\
import torch


class Saved:
    alive = 0

    def __init__(self, tensor):
        self.tensor = tensor.detach()
        Saved.alive += 1

    def __del__(self):
        Saved.alive -= 1


model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
with torch.autograd.graph.saved_tensors_hooks(Saved, lambda saved: saved.tensor):
    loss = model(torch.ones(8, 3)).square().mean()
loss.backward()
print("saved values still in memory:", Saved.alive)
""",
        fixed_shows="saved values still in memory: 0\n",
    )
    fix = (
        "Leave `retain_graph=True` out. The gradients do not change. If the program then raises, a later pass did use "
        "the graph after all, and the error's own page says what to do about it."
    )
    unless = (
        "Not on a pass whose graph is used again only sometimes: in some branch, every tenth step, under a debugging "
        "flag. Then let the argument follow the same condition. With several losses of one forward it belongs on "
        "every call but the last, so often it is only the last one that has to lose it."
    )
    tempting = Tempting(
        program="""\
import gc

import torch


class Saved:
    alive = 0

    def __init__(self, tensor):
        self.tensor = tensor.detach()
        Saved.alive += 1

    def __del__(self):
        Saved.alive -= 1


model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
with torch.autograd.graph.saved_tensors_hooks(Saved, lambda saved: saved.tensor):
    loss = model(torch.ones(8, 3)).square().mean()
loss.backward(retain_graph=True)
gc.collect()
print("saved values still in memory:", Saved.alive)
""",
        shows="saved values still in memory: 5\n",
        price=(
            "`gc.collect()` frees nothing: `loss` still leads to the graph, and the pass was told to keep its values. "
            "Smaller batches do make room, and pay for a flag that nobody needs with slower training."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Lines that keep graphs, none of which a later pass walked; not where that is explained by something worse."""
        worse = {stack[-1] for each in course.holdings if each.is_growing for stack in each.retained_by}
        worse |= {each.asked[-1] for each in course.constant_terms}
        for line in course.lines:
            is_needless = line.retained and line.followed and not line.walked_again
            is_the_users = line.is_direct or line.asks_to_retain
            if is_needless and is_the_users and not line.grows and line.stack[-1] not in worse:
                yield cls._finding(line)

    @classmethod
    def _finding(cls, line: PassLine) -> Finding:
        option = "create_graph=True" if line.differentiable else "retain_graph=True"
        loss = f"`{line.loss}`" if line.loss else "the loss"
        nobody = "nothing differentiates the gradients" if line.differentiable else "no later backward() uses it"
        return Finding(
            sentence=f"`{option}` keeps the graph of {loss}{_times(line)}, and {nobody}",
            kinds=("remove-retain",),
            places={"used": (line.stack, None)},
            culprit=Culprit(line.loss, line.loss_holder) if line.loss else None,
            doubt=line.doubt,
            evidence=_counted(line),
            costs_bytes=line.saved_bytes or 0,
            count=line.retained,
        )


def _times(line: PassLine) -> str:
    return "" if line.passes is None or line.retained == 1 else f" {line.retained:,} times"


def _counted(line: PassLine) -> dict[str, int | float | str | None]:
    if line.saved_bytes is None:
        return {}
    return {
        "retained_passes": line.retained,
        "saved_bytes": line.saved_bytes,
        "byte_seconds": round(line.saved_bytes * line.seconds * line.retained, 3),
    }
