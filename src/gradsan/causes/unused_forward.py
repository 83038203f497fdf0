import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from gradsan.causes.cause import Cause, Example, Finding, Places, Tempting
from gradsan.causes.meaning import Meaning
from gradsan.causes.remedy import Remedy, table
from gradsan.facts.course import Course, DroppedLoss, LeftOut
from gradsan.facts.doubt import LIKELY
from gradsan.facts.incident import Evidence
from gradsan.knowledge.hints import TERM_WORDS
from gradsan.lifecycle.amounts import count
from gradsan.report import Culprit, FixKind
from gradsan.source.disk import cell_at

_OF_ONE_STEP: tuple[FixKind, ...] = ("combine-losses", "move-into-loop")
_SEEN = 2  # steps in which a loss was left out, before it is a habit
_NAMED = re.compile(rf"{'|'.join(TERM_WORDS)}|(^|_)(reg|kl|kld|bce|mse|nll|ce)($|_)", re.IGNORECASE)


class UnusedForward(Cause):
    """A loss is computed and dropped without a backward pass.

    The loop computes a loss for every batch, and `backward()` stands after the loop, often by nothing more than its
    indentation. Each iteration gives the name `loss` to a new tensor, and the old one is dropped with its graph. At the
    end only the last loss is left, and only the last batch trains the model.

    PyTorch does not raise here, whatever some articles say: a graph that is dropped is just freed, and the one that is
    left has been used by no pass. The model still learns something, from one batch of each epoch, so it looks like a
    bad learning rate or too little data. A loss that is computed and forgotten in the sum of losses is the same
    mistake.
    """

    code = "GS304"
    name = "unused-forward"
    severity = "warning"
    summary = "a loss is computed and dropped without backward, so that only the last batch trains"
    own_remedies = table(
        Remedy("combine-losses", where=("loop",), trusted=False),
        Remedy("move-into-loop", where=("update",), first_if="the loop takes batches"),
    )
    meanings: ClassVar[Mapping[FixKind, Meaning]] = {"combine-losses": "open", "move-into-loop": "open"}
    roles = Cause.roles | {
        "made": "computed here, and no backward() uses it",
        "used": "this {call} takes only a part of it",
    }
    titles: ClassVar[dict[FixKind, str]] = {
        "combine-losses": "call backward() on a loss that has {it} in it, instead of dropping it",
        "move-into-loop": "call backward() and step() for every batch: move them into the loop",
    }
    example = Example(
        program="""\
import torch

weight = torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([weight], lr=1.0)
for sample in torch.eye(3):
    loss = 1 - weight.dot(sample)
opt.zero_grad()
loss.backward()
opt.step()
print(weight.tolist())
""",
        shows="[0.0, 0.0, 1.0]\n",
        fixed="""\
import torch

weight = torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([weight], lr=1.0)
for sample in torch.eye(3):
    loss = 1 - weight.dot(sample)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(weight.tolist())
""",
        fixed_shows="[1.0, 1.0, 1.0]\n",
    )
    fix = (
        "Put `zero_grad()`, `backward()` and `step()` into the loop, after the loss. If one update is to come from "
        "all iterations, add up instead of overwriting: `loss = loss + …`, and one backward after the loop."
    )
    unless = (
        "Not where the loss is only looked at: validation, a curve, an early stop. Then nothing has to be "
        "back-propagated, and the forward belongs under `torch.no_grad()`, which saves the memory of the graph."
    )
    tempting = Tempting(
        program="""\
import torch

weight = torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([weight], lr=1.0)
for sample in torch.eye(3):
    loss = 1 - weight.dot(sample)
opt.zero_grad()
loss.backward(retain_graph=True)
opt.step()
print(weight.tolist())
""",
        shows="[0.0, 0.0, 1.0]\n",
        price=(
            "`retain_graph=True`, recommended for this loop in articles, keeps the last graph in memory and changes "
            "nothing else: there was no second pass, and the other losses are gone. Only the last batch trains, as "
            "before."
        ),
    )

    @classmethod
    def recognise(cls, course: Course) -> Iterator[Finding]:
        """Losses overwritten in a loop before a pass takes the last of them."""
        for each in course.dropped:
            if each.is_habit:
                yield cls._overwritten(each)
        for loss in course.left_out:
            is_dead = not loss.is_read and _is_called_a_loss(loss)
            is_meant = is_dead or loss.alone or loss.is_total or loss.is_weighted
            if loss.seen >= _SEEN and not loss.is_used and is_meant:
                yield cls._forgotten(loss)

    @classmethod
    def _overwritten(cls, loss: DroppedLoss) -> Finding:
        named = f"`{loss.name}`" if loss.name else "the loss"
        often = "in every iteration of a loop"
        if loss.runs is not None and loss.passes is not None:
            often = f"{loss.runs} times for {count(loss.passes, 'call', 'calls')} of backward()"
        return Finding(
            sentence=(
                f"{named} is computed {often}, and backward() uses only the last one: the others are overwritten and "
                "train nothing"
            ),
            # What the loop works on says whether its losses are terms of one step, or each belongs to one of its own.
            kinds=("move-into-loop", "combine-losses") if loss.is_of_one_step is False else _OF_ONE_STEP,
            places={"made": (loss.made, None)},
            culprit=Culprit(loss.name, "local") if loss.name else None,
            doubt=loss.doubt,
            evidence={"computed": loss.runs, "dropped": loss.dropped, "passes": loss.passes},
            count=loss.dropped,
        )

    @classmethod
    def _forgotten(cls, loss: LeftOut) -> Finding:
        why = ", which takes only a part of it" if loss.is_total else ""
        if loss.alone:
            why = f", and nothing else trains {count(len(loss.alone), 'parameter')} that it reaches"
        places: Places = {"made": (loss.made, None)}
        return Finding(
            sentence=f"`{loss.name}` is computed in every step, and no backward() uses it{why}",
            kinds=("combine-losses",),
            places=places | {"used": (loss.sibling, None)} if loss.is_total else places,
            culprit=Culprit(loss.name, loss.holder),
            doubt=LIKELY,
            evidence={"steps": loss.seen, "parameters_alone": len(loss.alone), "is_total": int(loss.is_total)},
            notes=_beside(loss),
            count=loss.seen,
        )

    @classmethod
    def meaning(cls, kind: FixKind, evidence: Evidence) -> Meaning:
        """A sum is the loss, where a pass is asked of a part of it."""
        return "whole" if evidence.get("is_total") else super().meaning(kind, evidence)

    @classmethod
    def remedy(cls, kind: FixKind, evidence: Evidence) -> Remedy:
        """A loss that is left out of the sum, and not overwritten, belongs where nobody can say; a sum is to be it."""
        usual = super().remedy(kind, evidence)
        if "parameters_alone" not in evidence or kind != "combine-losses":
            return usual
        return replace(usual, where=("pass of a term",) if evidence.get("is_total") else (), trusted=False)


def _beside(loss: LeftOut) -> tuple[str, ...]:
    if loss.is_total or not loss.sibling:
        return ()
    other = loss.sibling[-1]
    cell, first = cell_at(other.file, other.line)
    where = "" if cell is None else f" of In[{cell}]"
    return (f"the backward() of the other loss is in line {other.line - first + 1}{where}",)


def _is_called_a_loss(loss: LeftOut) -> bool:
    """By itself, or where it is made; but a name with a dash before it says that it is not wanted."""
    return not loss.name.startswith("_") and any(_NAMED.search(each) for each in (loss.name, loss.called))
