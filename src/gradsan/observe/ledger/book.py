"""The ledger itself: told of every pass and step, it keeps the accounts from which silent problems are read."""

import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from gradsan.facts.course import Course, CutOff
from gradsan.observe.attention import Attention
from gradsan.observe.graph import ranges_of, reach, roots_of
from gradsan.observe.guarding import attempt, is_ours, shown
from gradsan.observe.ledger.accounts import Accounts
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.carrying import carried_by, round_begins
from gradsan.observe.ledger.cutting import find_cut
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.hoards import Hoards
from gradsan.observe.ledger.holder_scan import Histories, Timeline, sightings
from gradsan.observe.ledger.holdings import Holdings
from gradsan.observe.ledger.passlines import Line, PassLines
from gradsan.observe.ledger.staleness import Staleness
from gradsan.observe.ledger.unreached import Ran, Unreached
from gradsan.observe.ledger.unused_losses import Siblings
from gradsan.observe.ledger.wording import user_files, user_modules
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.modules import module_names, trained
from gradsan.observe.notes import Begun
from gradsan.observe.passes import Passes
from gradsan.observe.steps import Steps

# Every step of an optimizer is followed at first; then some in a row, with pauses. Without any, passes are followed.
_STEPS_AT_FIRST, _STEPS_IN_A_ROW, _PAUSE = 96, 24, 488
_PASSES_AT_FIRST = 256
_WEIGHED = 3  # the pass of a line at which all that is alive is weighed
# When live holders are looked through: after so many passes; then later and later, but sooner if something is held, and
# never so late that what begins in the middle of a run goes unseen.
_FIRST_LOOK = 3
_LATER, _SOONER, _LATEST = 3.0, 1.25, 512


class Ledger:
    """One in a process. What goes wrong in here ends the ledger, and nothing else: `tell` says it in one line."""

    def __init__(
        self,
        passes: Passes,
        steps: Steps,
        recorder: LineRecorder,
        op_counter: Callable[[], int],
        attention: Attention,
        tell: Callable[[str], None],
    ) -> None:
        self._passes = passes
        self._steps = steps
        self._recorder = recorder
        self._counter = op_counter
        self._attention = attention
        self._tell = tell
        self._is_open = True
        self._turn = threading.RLock()
        self._budget = Budget()
        lines, gradients = PassLines(steps, passes.tape.take_in), Gradients()
        self._kept = Accounts(
            lines=lines,
            gradients=gradients,
            holdings=Holdings(),
            hoards=Hoards(recorder, lines, self._budget, self._files, self._in_turn, attention.wake),
            siblings=Siblings(),
            unreached=Unreached(recorder.ownership.owns, self._fail),
            staleness=Staleness(steps, recorder, gradients, self._budget),
        )
        self._next_look = _FIRST_LOOK
        self._told, self._enough = 0, _STEPS_AT_FIRST

    def pass_begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        """A pass is about to run."""
        self._in_turn(lambda: self._pass_begins(note, tensors, frame))

    def pass_ended(self, note: Begun) -> None:
        """It has run."""
        self._in_turn(lambda: self._pass_ended(note))

    def step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer is about to step."""
        self._in_turn(lambda: self._step_begins(optimizer))

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
                act()
        except BaseException as error:
            if not is_ours(error):
                raise
            self._fail(error)
        finally:
            turn.release()

    def close(self) -> Course | None:
        """How the run went; None where that is not known."""
        if not self._is_open:
            return None
        self._is_open = False
        self._kept.unreached.heard()
        from gradsan.observe.ledger.closing import course

        if self._kept.lines.lines:
            self._take_census(None, None)
        return course(self._passes, self._steps, self._recorder, self._kept, self._counter())

    def _pass_ended(self, note: Begun) -> None:
        if note.outer is None:
            self._kept.gradients.pass_ended(note)
            self._kept.lines.ended(note, self._counter())
            self._kept.staleness.pass_ended(note)

    def _step_begins(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        self._kept.gradients.step_begins(optimizer)
        self._kept.unreached.step_begins(optimizer)

    def _step_ended(self, optimizer: Any) -> None:  # noqa: ANN401 # as above
        self._kept.gradients.step_ended(optimizer)
        self._kept.unreached.step_ended(optimizer)
        self._told += 1
        if self._told >= self._enough and self._may_rest:
            self._rest(_PAUSE)

    def _pass_begins(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        if note.outer is not None:
            return
        self._kept.gradients.pass_begins()
        self._kept.hoards.pass_begins(note, frame)
        line = self._kept.lines.begins(note, tensors, frame)
        if line is None:
            return
        if note.seen:
            self._kept.siblings.pass_begins(note, note.seen, frame, self._recorder.lines())
            self._kept.staleness.pass_begins(note, note.seen, tensors, frame)
            self._kept.terms.pass_begins(note, tensors, self._recorder.lines(), self._kept.lines, self._budget)
        ran = self._kept.unreached.heard()
        if self._kept.unreached.unheard:
            ran = self._ran_by_name(frame, note)
        if ran:
            self._look_for_cuts(ran, note, tensors)
        if line.passes == _WEIGHED and note.seen and self._budget.allows():
            with self._budget:
                search = Histories(self._recorder.ownership.owns).look_through(frames_out(frame), ())
                self._kept.lines.weigh(search.nodes.values(), note, self._passes.before(self._passes.note(note)))
        if self._passes.count > self._next_look:
            self._look_for_holders(note, frame)
        if self._passes.count > _PASSES_AT_FIRST and not self._steps.count and self._may_rest:
            self._rest(1)
        if note.seen and line.carried is None and _grows(line):
            self._name_carrier(line, note, tensors, frame)

    @property
    def _may_rest(self) -> bool:
        return self._attention.is_on and not self._kept.hoards.is_waiting and not self._kept.unreached.has_cuts

    def _rest(self, steps: int) -> None:
        self._told, self._enough = 0, _STEPS_IN_A_ROW
        self._kept.gradients.rest()
        self._kept.unreached.heard()
        self._attention.rest(steps)

    def _look_for_holders(self, note: Begun, frame: FrameType) -> None:
        if note.seen:
            self._take_census(note, frame)
        else:  # what the present pass walks must be known: have the next one walked
            note.site.due = min(note.site.due, note.site.passes)

    def _take_census(self, note: Begun | None, frame: FrameType | None) -> None:
        if note is not None and not self._budget.allows():  # when all is over, nobody waits for it
            return
        with self._budget:
            owns = self._recorder.ownership.owns
            timeline = Timeline(
                owned=[
                    (each.owned, self._steps.numbers_of(key)) for key, each in self._kept.gradients.accounts.items()
                ],
                reached=[
                    (each.reached, each.site.begins)
                    for each in self._kept.lines.lines.values()
                    if each.kind == "backward"
                ],
            )
            modules = [] if frame is not None else user_modules(owns)
            walks = self._passes.note(note).walks if note is not None else lambda _: False
            search = Histories(owns).look_through(frames_out(frame), modules)
            seen = sightings(search, timeline, walks)
            if seen:
                self._kept.holdings.add(seen, self._recorder.lines(), self._files())
            count = self._passes.count
            self._next_look = min(int(count * (_SOONER if seen else _LATER)), count + _LATEST) + 1

    def _ran_by_name(self, frame: FrameType, note: Begun) -> list[Ran]:
        from gradsan.observe.ledger.called import ran_by_name

        wanted, self._kept.unreached.unheard = self._kept.unreached.unheard, set()
        lines = self._recorder.lines()
        if lines is None or not self._budget.allows():
            return []
        with self._budget:
            return ran_by_name(wanted, frames_out(frame), self._recorder.ownership.owns, lines, note.since)

    def _look_for_cuts(self, ran: list[Ran], note: Begun, tensors: Sequence[Any]) -> None:
        lines = self._recorder.lines()
        if lines is None or not note.accumulates:
            return
        walked = note.seen.walked if note.seen is not None else ranges_of(reach(roots_of(tensors)))
        with self._budget:
            modules = module_names(trained().modules)
            for each in ran:
                module = modules.get(each.identities[0], "")
                found = find_cut(each, set(module.split(".")), walked, lines, note.since)
                if found is not None:
                    names = tuple(f"{module}.{key}" if module else key for key in each.keys)
                    self._kept.unreached.cut(CutOff(names, module, 0, found.how, found.at, found.name), each)

    def _files(self) -> set[str]:
        return user_files(self._recorder.ownership.owns) | self._kept.lines.files

    def _name_carrier(self, line: Line, note: Begun, tensors: Sequence[Any], frame: FrameType) -> None:
        lines = self._recorder.lines()
        if lines is not None and self._budget.allows():
            with self._budget:
                since = round_begins(lines, frame, note.since)
                line.carried = carried_by(tensors, since, frame, lines, self._recorder.ownership.owns)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, RecursionError):  # the program is near its own limit, and this was too deep for it
            return
        self._is_open = False
        self._attention.sleep()
        attempt(self._kept.unreached.heard, lambda _: None)
        attempt(self._kept.hoards.close, lambda _: None)
        self._tell(f"silent problems are no longer looked for: {shown(error)}")


def _grows(line: Line) -> bool:
    walks = [*line.walks, *line.latest][-3:]
    return len(walks) == 3 and all(each.back >= 2 for each in walks[-2:]) and walks[0].ops < walks[1].ops < walks[2].ops  # noqa: PLR2004 # as many as show growth
