from collections.abc import Iterator, Mapping
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Places, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import Course, PassLine, Walk
from gradsan.lifecycle.amounts import count
from gradsan.report import Culprit, FixKind

_FAR = 1000  # steps ahead, for a reader to see where it leads


class GrowingHistory(Cause):
    """Every backward pass goes through all earlier steps as well.

    A tensor carried from step to step (a moving average, a memory, a hidden state) still has its graph, and the graphs
    of the earlier steps were kept with `retain_graph=True`, or consist of operations that save nothing. So nothing is
    missing and nothing raises. Each pass goes through this step, the one before, and so on to the first.

    The first steps are fast. The tenth pass goes through ten steps, the thousandth through a thousand, and their saved
    values all stay in memory. It is taken for a leak in PyTorch or a slow data loader. The gradient is not that of this
    step alone either: it contains what flows back through all earlier ones, whose activations come from parameters that
    have changed since. Where a changed parameter was itself saved for backward, PyTorch stops (GS201); a plain moving
    average of outputs saves none, and goes on without an error.
    """

    code = "GS305"
    name = "growing-history"
    severity = "warning"
    counted_in_runs = True
    grows = True
    summary = "every backward pass goes through all earlier steps: each step is slower than the last"
    own_remedies = table(
        Remedy("detach", where=("single use", "boundary", "use"), drops_retain=True),
        Remedy(
            "no-grad",
            where=("average",),
            first_if="it can be written",
            only_if_shown=True,
            drops_retain=True,
            trusted=False,
        ),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"detach": "beside", "no-grad": "stored"}
    roles = Cause.roles | {
        "enters": "carried into the next step here",
        "used": "this {call} goes through all earlier steps too",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "detach": "detach {it} between the steps: its values stay, its graph is dropped",
        "remove-retain": "remove `{option}` from {later}; PyTorch then reports what is carried on",
    }
    example = Example(
        program="""\
import torch


def ops(node, seen):
    if node and node not in seen:
        seen.add(node)
        for earlier, _ in node.next_functions:
            ops(earlier, seen)
    return len(seen)


encoder = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
centre = torch.zeros(2)
for batch in torch.ones(4, 8, 3):
    centre = 0.9 * centre + 0.1 * encoder(batch).mean(dim=0)
    loss = centre.square().sum()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print("ops in the graph:", ops(loss.grad_fn, set()))
""",
        shows="ops in the graph: 9\nops in the graph: 15\nops in the graph: 21\nops in the graph: 27\n",
        fixed="""\
import torch


def ops(node, seen):
    if node and node not in seen:
        seen.add(node)
        for earlier, _ in node.next_functions:
            ops(earlier, seen)
    return len(seen)


encoder = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
centre = torch.zeros(2)
for batch in torch.ones(4, 8, 3):
    centre = 0.9 * centre.detach() + 0.1 * encoder(batch).mean(dim=0)
    loss = centre.square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("ops in the graph:", ops(loss.grad_fn, set()))
""",
        fixed_shows="ops in the graph: 9\nops in the graph: 9\nops in the graph: 9\nops in the graph: 9\n",
    )
    fix = (
        "Detach what is carried, where it enters the next step, and take `retain_graph=True` out. With the graph "
        "cut off, nothing needs it; and without it, PyTorch reports the next tensor that is carried by mistake (GS103)."
    )
    unless = (
        "Not where the gradient should flow over several steps. Then choose how many: add up the losses of that "
        "window, call backward once at its end, step, and detach there. For a whole sequence this gives the full "
        "gradient, and the pass goes through each step once."
    )
    tempting = Tempting(
        program="""\
import torch


def ops(node, seen):
    if node and node not in seen:
        seen.add(node)
        for earlier, _ in node.next_functions:
            ops(earlier, seen)
    return len(seen)


encoder = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
centre = torch.zeros(2)
for batch in torch.ones(4, 8, 3):
    centre = 0.9 * centre.clone() + 0.1 * encoder(batch).mean(dim=0)
    loss = centre.square().sum()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print("ops in the graph:", ops(loss.grad_fn, set()))
""",
        shows="""\
ops in the graph: 9
ops in the graph: 16
ops in the graph: 23
ops in the graph: 30
""",
        price=(
            "`clone()` copies the values and stays connected: it is one more op in every step. Only `detach()` cuts "
            "the graph off (`detach().clone()` where the values are edited afterwards)."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Lines each of whose passes walks what all the passes before have walked, over updates of the parameters."""
        yield from (cls._finding(line) for line in course.lines if line.grows)

    @classmethod
    def _finding(cls, line: PassLine) -> Finding:
        first, last = (line.walks[0], line.walks[-1]) if line.walks else (None, None)
        carried = line.carried
        name = None if carried is None else carried.name
        subject = f"`{name}`" if name else "a tensor"
        places: Places = {"used": (line.stack, None if last is None else last.step)}
        if carried is not None and carried.enters:
            places["enters"] = (carried.enters, None)
        return Finding(
            sentence=f"{subject} carries the graphs of all earlier steps into every backward()",
            kinds=("detach", "remove-retain") if line.retained else ("detach",),
            places=places,
            culprit=Culprit(name, carried.holder) if carried and name and carried.holder else None,
            doubt=line.doubt,
            evidence=_counted(first, last),
            notes=_numbers(first, last),
            costs_bytes=(line.saved_bytes or 0) * max(0 if last is None else last.back, 1),
            count=line.passes,
        )


def _growth(first: Walk, last: Walk) -> float:
    """Ops a step."""
    return (last.ops - first.ops) / max(last.step - first.step, 1)


def _numbers(first: Walk | None, last: Walk | None) -> tuple[str, ...]:
    if first is None or last is None:
        return ()
    far = first.ops + _growth(first, last) * _FAR
    went = f"{count(first.ops, 'op')} in step {first.step} and {last.ops:,} in step {last.step}"
    return (f"backward() went through {went}; in step {_FAR:,} it would be about {far:,.0f}",)


def _counted(first: Walk | None, last: Walk | None) -> dict[str, int | float | str | None]:
    if first is None or last is None:
        return {}
    return {
        "first_ops": first.ops,
        "last_ops": last.ops,
        "ops_per_step": round(_growth(first, last), 1),
        "steps": last.back,
    }
