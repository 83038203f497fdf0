"""The ledger itself: told of every pass and step, it keeps the accounts from which silent problems are read."""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from gradsan.lifecycle.course import Course
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.carrying import carried_by
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.passlines import Line, PassLines
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.passes import Asked, Passes, PassNote
from gradsan.observe.steps import Steps

_STEPS_KEPT = 1_000_000


class Ledger:
    """One in a process. What goes wrong in here ends the ledger, and nothing else: `tell` says it in one line."""

    def __init__(
        self,
        passes: Passes,
        steps: Steps,
        recorder: LineRecorder,
        op_counter: Callable[[], int],
        tell: Callable[[str], None],
    ) -> None:
        self._passes = passes
        self._steps = steps
        self._recorder = recorder
        self._counter = op_counter
        self._tell = tell
        self._is_open = True
        self._budget = Budget()
        self._gradients = Gradients()
        self._lines = PassLines()

    def pass_begins(self, note: PassNote, tensors: Sequence[Any], asked: Asked, frame: FrameType) -> None:
        """A pass is about to run."""
        if self._is_open:
            try:
                self._pass_begins(note, tensors, asked, frame)
            except Exception as error:  # noqa: BLE001 # whatever it is
                self._fail(error)

    def pass_ended(self, note: PassNote) -> None:
        """It has run."""
        if self._is_open and note.outer is None:
            try:
                self._gradients.pass_ended(note)
                self._lines.ended(note, self._counter())
            except Exception as error:  # noqa: BLE001 # as above
                self._fail(error)

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer is about to step."""
        if self._is_open:
            try:
                self._gradients.step_begins(optimizer)
            except Exception as error:  # noqa: BLE001 # as above
                self._fail(error)

    def step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        """It has stepped."""
        if self._is_open:
            try:
                self._gradients.step_ended(optimizer)
                if len(self._lines.steps) < _STEPS_KEPT:
                    self._lines.steps.append(self._counter())
            except Exception as error:  # noqa: BLE001 # as above
                self._fail(error)

    def close(self) -> Course | None:
        """How the run went; None where that is not known."""
        if not self._is_open:
            return None
        self._is_open = False
        from gradsan.observe.ledger.closing import course

        return course(self._passes, self._steps, self._recorder, self._lines, self._gradients)

    def _pass_begins(self, note: PassNote, tensors: Sequence[Any], asked: Asked, frame: FrameType) -> None:
        if note.outer is not None:
            return
        self._gradients.pass_begins()
        line = self._lines.begins(note, tensors, asked, frame)
        if line is None:
            return
        if line.carried is None and _grows(line) and note.seen:
            self._name_carrier(line, tensors, frame)

    def _name_carrier(self, line: Line, tensors: Sequence[Any], frame: FrameType) -> None:
        lines = self._recorder.lines()
        if lines is not None and self._budget.allows():
            with self._budget:
                line.carried = carried_by(tensors, line.begins[-2], frame, lines, self._recorder.ownership.owns)

    def _fail(self, error: Exception) -> None:
        self._is_open = False
        self._tell(f"silent problems are no longer looked for: {type(error).__name__}: {error}")


def _grows(line: Line) -> bool:
    walks = [*line.walks, *line.latest][-3:]
    return len(walks) == 3 and all(each.back >= 2 for each in walks[-2:]) and walks[0].ops < walks[1].ops < walks[2].ops  # noqa: PLR2004 # as many as show growth
