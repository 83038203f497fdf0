"""The ledger itself: handed every pass and step, it keeps the accounts from which silent problems are read."""

import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from gradsan.facts.course import Course
from gradsan.observe.attention import Attention
from gradsan.observe.guarding import attempt, is_ours, shown
from gradsan.observe.ledger.accounts import Accounts
from gradsan.observe.ledger.budget import AttendingBudget
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.notes import Begun
from gradsan.observe.process import Process

# Every step of an optimizer is followed at first; then some in a row, with pauses. Without any, passes are followed.
_STEPS_AT_FIRST, _STEPS_IN_A_ROW, _PAUSE = 96, 24, 488
_PASSES_AT_FIRST = 256
# So many pauses are as long as any: what is found in a short run must not hang on the speed of a machine. Later ones
# last until attending has taken no more than this share of the run.
_PAUSES_AT_FIRST, _SHARE = 8, 0.005


class Ledger:
    """One in a process. What goes wrong in here ends the ledger, and nothing else: `report` says it in one line."""

    def __init__(self, process: Process, attention: Attention, report: Callable[[str], None]) -> None:
        self._process = process
        self._attention = attention
        self._report = report
        self._is_open = True
        self._turn = threading.RLock()
        self._kept = Accounts(Run.of(process), self._in_turn, attention.wake, self._fail)
        self._followed, self._enough = 0, _STEPS_AT_FIRST  # steps
        self._pauses = 0
        self._budget = AttendingBudget(_SHARE)

    def pass_begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        """A pass is about to run."""
        if note.outer is None:
            self._in_turn(lambda: self._pass_begins(note, tensors, frame))

    def pass_ended(self, note: Begun) -> None:
        """It has run."""
        if note.outer is None:
            self._in_turn(lambda: self._kept.pass_ended(note))

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer is about to step."""
        self._in_turn(lambda: self._kept.step_begins(optimizer))

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It has stepped."""
        self._in_turn(lambda: self._step_ended(optimizer))

    def _in_turn(self, act: Callable[[], None]) -> None:
        """Threads that train at the same time keep one ledger: one after another."""
        turn = self._turn
        if not turn.acquire(timeout=1):  # a fork can leave it held by a thread that the child does not have
            turn = self._turn = threading.RLock()
            turn.acquire()
        try:
            if self._is_open:
                self._budget.charge(act)
        except BaseException as error:
            if not is_ours(error):
                raise
            self._fail(error)
        finally:
            turn.release()

    def close(self, *, is_cut_short: bool = False) -> Course | None:
        """How the run went; None where that is not known. `is_cut_short`: an error ended it."""
        if is_cut_short:
            self._kept.run.lines.forget_undecided()
        found = self.so_far(is_over=True)
        self._is_open = False
        return found

    def so_far(self, *, is_over: bool = False) -> Course | None:
        """How the run has gone until now; likewise."""
        if not self._is_open:
            return None
        from gradsan.observe.ledger.closing import course

        return course(self._kept, is_over=is_over)

    def _pass_begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        self._kept.pass_begins(note, tensors, frame)
        if self._process.passes.count > _PASSES_AT_FIRST and not self._process.steps.count:
            self._rest(1)

    def _step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        self._kept.step_ended(optimizer)
        self._followed += 1
        if self._followed >= self._enough or self._attention.is_spent:
            self._rest(_PAUSE)

    def _rest(self, steps: int) -> None:
        """Let so many steps go by, if nothing is waited for, or there is no time for it."""
        attention = self._attention
        if attention.is_on and (self._kept.may_rest or attention.is_spent):
            self._followed, self._enough = 0, _STEPS_IN_A_ROW
            self._pauses += 1
            self._kept.rest()
            so_far = self._process.steps.count
            longer = 0 if self._pauses <= _PAUSES_AT_FIRST else self._budget.steps_to_rest(so_far)
            attention.rest(max(steps, longer), so_far)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, RecursionError):  # the program is near its own limit, and this was too deep for it
            return
        self._is_open = False
        self._attention.sleep()
        attempt(self._kept.unreached.heard, lambda _: None)
        attempt(self._kept.hoards.close, lambda _: None)
        attempt(self._kept.weighing.close, lambda _: None)
        self._report(f"silent problems are no longer looked for: {shown(error)}")
