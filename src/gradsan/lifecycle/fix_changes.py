"""What a fix does to a life: one change for every kind of fix whose effects are predicted."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from gradsan.lifecycle.events import Event, Held, Life, Walked
from gradsan.lifecycle.life_edits import Edge, asking, cutting, each_event, leaving_out
from gradsan.lifecycle.repetition import repeating


class Change(ABC):
    """One thing changed in a program. Positions are indices into the events of the life it is applied to.

    Where a life does not say what becomes of it, applying the change raises an `UnforeseeableError`.
    """

    rereads: ClassVar[bool] = False  # whether ops read their inputs at another time, or once more

    @abstractmethod
    def applied(self, life: Life) -> Life:
        """The life of the changed program."""

    def keeps_values(self, life: Life) -> bool:  # noqa: ARG002  # most do, in any life
        """Whether the forward provably computes what it did, as far as the same values come in."""
        return True


@dataclass(frozen=True, slots=True)
class Detach(Change):
    """Tensors keep their values and lose their history where these edges lead, and in the hands of these holders."""

    edges: frozenset[Edge] = frozenset()
    holders: frozenset[str] = frozenset()

    def applied(self, life: Life) -> Life:
        """The life without these edges."""
        return each_event(cutting(life, edges=self.edges), self._let_go)

    def _let_go(self, event: Event) -> Event:
        return Held(event.holder) if isinstance(event, Held) and event.holder in self.holders else event


class ResetState(Detach):
    """The state begins again, without history and with other values."""

    def keeps_values(self, life: Life) -> bool:  # noqa: ARG002 # others look
        """It does not: that is its purpose."""
        return False


@dataclass(frozen=True, slots=True)
class NoGrad(Change):
    """These ops run under `torch.no_grad()`: they are never created, and what builds on them finds no history.

    For views that is not all: PyTorch lets one made there require a gradient, which then leads nowhere.
    """

    ops: frozenset[int]

    def applied(self, life: Life) -> Life:
        """The life without these ops."""
        return cutting(life, ops=self.ops)


@dataclass(frozen=True, slots=True)
class Retain(Change):
    """These passes keep the graph."""

    passes: frozenset[int]

    def applied(self, life: Life) -> Life:
        """The life in which they do."""
        return asking(life, self.passes, lambda each: replace(each, retain_graph=True))


@dataclass(frozen=True, slots=True)
class Combine(Change):
    """One pass over the sum of the losses, in the place of the last of these passes."""

    passes: frozenset[int]

    def applied(self, life: Life) -> Life:
        """The life with the one pass."""
        *earlier, last = (each for each in life.passes() if each.id in self.passes)
        roots = tuple(root for each in (*earlier, last) for root in each.roots)
        # A sum has a history if one of its terms has.
        terms = tuple(each for each in roots if each is not None) or roots
        fewer = RemovePass(frozenset(each.id for each in earlier)).applied(life)
        return asking(fewer, {last.id}, lambda each: replace(each, roots=terms))


@dataclass(frozen=True, slots=True)
class RemovePass(Change):
    """These passes are not run."""

    passes: frozenset[int]

    def applied(self, life: Life) -> Life:
        """The life without them."""
        walked = {position: event for position, event in enumerate(life.events) if isinstance(event, Walked)}
        return leaving_out(life, {position for position, event in walked.items() if event.asked.id in self.passes})


@dataclass(frozen=True, slots=True)
class Recompute(Change):
    """These ops are created again before each of these positions, and what comes after builds on the new ones.

    They read the same tensors without history, and draw the same random numbers.
    """

    ops: frozenset[int]
    before: frozenset[int]
    rereads: ClassVar[bool] = True

    def applied(self, life: Life) -> Life:
        """The life with the repeated forward."""
        return repeating(life, self.ops, self.before)
