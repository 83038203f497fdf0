"""Everything that the ledger keeps: one account for each kind of thing that happens over many steps."""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from gradsan.observe.ledger.constant_terms import ConstantTerms
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.growth import Growth
from gradsan.observe.ledger.hoards import Hoards
from gradsan.observe.ledger.holdings import Holdings
from gradsan.observe.ledger.leaf_losses import LeafLosses
from gradsan.observe.ledger.staleness import Staleness
from gradsan.observe.ledger.unreached import Unreached
from gradsan.observe.ledger.unused_losses import Siblings
from gradsan.observe.ledger.weighing import Weighing
from gradsan.observe.notes import Begun


class Accounts:
    """They are given all events, in the same order.

    `in_turn` calls something when no other thread is at work on them, `attend` has every pass handed on, and `fail`
    is given an error of our own.
    """

    def __init__(
        self,
        run: Run,
        in_turn: Callable[[Callable[[], None]], None],
        attend: Callable[[], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self.run = run
        self.gradients = Gradients()  # from step to step
        self.hoards = Hoards(run, in_turn, attend)  # of graphs, within one call
        self.siblings = Siblings(run)  # losses beside one another
        self.staleness = Staleness(run, self.gradients)  # of what passes walk
        self.unreached = Unreached(run, fail)  # parameters
        self.holdings = Holdings(run, self.gradients)  # of graphs
        self.terms = ConstantTerms(run)  # of losses
        self.leaves = LeafLosses(run)  # that passes are asked for
        self.weighing = Weighing(run)  # of what is alive
        self._of_lines = (
            self.siblings,
            self.staleness,
            self.terms,
            self.leaves,
            self.unreached,
            self.weighing,
            self.holdings,
            Growth(run),
        )

    def pass_begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        """A pass is about to run."""
        self.gradients.pass_begins()
        self.hoards.pass_begins(note, frame)
        asked = self.run.asked(note, tensors, frame)
        if asked is not None:
            self.gradients.asked_for(asked, self.run.budget)
            for each in self._of_lines:
                each.pass_begins(asked)

    def pass_ended(self, note: Begun) -> None:
        """It has run."""
        self.gradients.pass_ended(note)
        self.run.lines.ended(note, self.run.process.passes.counter())
        self.staleness.pass_ended(note)

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer is about to step."""
        self.gradients.step_begins(optimizer)
        self.unreached.step_begins(optimizer)

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It has stepped."""
        self.gradients.step_ended(optimizer)
        self.unreached.step_ended(optimizer)

    @property
    def may_rest(self) -> bool:
        """Whether nothing is waited for that passes and steps are to show."""
        return not self.hoards.is_waiting and not self.unreached.has_cuts

    def rest(self) -> None:
        """Nothing is handed on for a while."""
        self.gradients.rest()
        self.unreached.rest()
