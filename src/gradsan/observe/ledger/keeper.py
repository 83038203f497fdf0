"""Keeps a ledger while one is wanted: opens it when the process is watched, hands on what happens, closes it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from gradsan.observe.attention import Attention
from gradsan.observe.cells import CELLS
from gradsan.observe.compilation import compiles_to_nothing
from gradsan.observe.guarding import is_ours
from gradsan.observe.notes import Begun
from gradsan.observe.own_work import OwnWork
from gradsan.observe.process import Process

if TYPE_CHECKING:
    from gradsan.facts.course import Course
    from gradsan.observe.ledger.book import Ledger


class Keeper:
    """One in a process. `missed` is given an error of our own that kept a step from being noted."""

    def __init__(self, work: OwnWork, attention: Attention, missed: Callable[[BaseException], None]) -> None:
        self._work = work
        self._attention = attention
        self._missed = missed
        self.is_wanted = False
        self.is_cut_short = False  # an error ends the program
        self._ledger: Ledger | None = None
        self.undo = ExitStack()

    def want(self, process: Process | None) -> bool:
        """Keep one from now on, or as soon as there is a process; False: one is kept already."""
        was_wanted, self.is_wanted = self.is_wanted, True
        if not was_wanted:
            self.open(process)
        return not was_wanted

    def open(self, process: Process | None) -> None:
        """Begin, if one is wanted and the process is watched."""
        if self.is_wanted and process is not None:
            self._work.guarded("silent problems are not looked for", partial(self._open, process))

    def close(self) -> "Course | None":
        """How the run went, if a ledger was kept; it is kept no longer."""
        ledger, self._ledger, self.is_wanted = self._ledger, None, False

        def close() -> "Course | None":
            self._attention.tape.take_in()
            self._attention.sleep()
            self.undo.close()
            return None if ledger is None else CELLS.named(ledger.close(is_cut_short=self.is_cut_short))

        return self._work.guarded("silent problems are not reported", close)

    def so_far(self) -> "Course | None":
        """How the run has gone until now, if a ledger is kept."""
        ledger = self._ledger
        return None if ledger is None else CELLS.named(ledger.so_far())

    def pass_begins(self, begun: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        """A pass is about to run."""
        ledger = self._ledger
        if ledger is not None:
            self._work.guarded("silent problems are overlooked", partial(ledger.pass_begins, begun, tensors, frame))

    def pass_ended(self, begun: Begun) -> None:
        """It has run."""
        ledger = self._ledger
        if ledger is not None:
            self._work.undisturbed(partial(ledger.pass_ended, begun))

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """An optimizer has stepped, which is attended to."""
        ledger = self._ledger
        if ledger is not None:
            self._work.undisturbed(partial(ledger.step_ended, optimizer))

    def _open(self, process: Process) -> None:
        from torch.compiler import is_dynamo_compiling
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        from gradsan.observe.ledger.book import Ledger

        attention = self._attention

        @compiles_to_nothing
        def step_begins(optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
            if is_dynamo_compiling():
                return
            try:
                ledger = self._ledger
                if attention.is_on and ledger is not None:
                    attention.charge(partial(self._work.undisturbed, partial(ledger.step_begins, optimizer)))
            except BaseException as error:
                if not is_ours(error):
                    raise
                self._missed(error)

        self._ledger = Ledger(process, attention, self._work.report)
        attention.wake()
        self.undo.callback(register_optimizer_step_pre_hook(step_begins).remove)
