"""The sanitizer: installed in a process, it notes passes and steps, and hands on what is to be explained."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from gradsan.observe.absence import Absence, asked_in, in_seconds, returning_engine
from gradsan.observe.attention import Attention
from gradsan.observe.guarding import say
from gradsan.observe.ledger.keeper import Keeper
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.notes import Begun
from gradsan.observe.own_work import OwnWork
from gradsan.observe.private import is_tracing, private
from gradsan.observe.process import Process, noted
from gradsan.observe.raised import Explain, explain_nothing, raised_elsewhere, raised_in_pass
from gradsan.observe.watched_engine import Asked, Engine, watched_engine

if TYPE_CHECKING:
    from gradsan.facts.course import Course

_MISSED = 3  # passes and steps that are not noted, before none is

_LINES_OF_MEMORY, _STEPS_OF_MEMORY = 2, 8  # lines have half of what is allowed, steps an eighth

_UNEXPLAINED = "an error is not explained"
_SEARCHED_NO_MORE = "silent problems are no longer looked for"
_NOT_PUT_BACK = "not everything was put back"


class Sanitizer:
    """One in a process. `report` receives what there is to say about gradsan itself: one line each time.

    `explain` is given every error of a pass; `lines` says whether the lines that run are recorded, and `details`
    whether what a page shows is; `share`, how much of the run's time all of this may take, and `memory`, how many bytes
    the notes may, where that is limited.
    """

    def __init__(
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        explain: Explain = explain_nothing,
        report: Callable[[str], None] = say,
        lines: bool = True,
        details: bool = False,
        share: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._explain = explain
        self._memory = memory
        self._is_detailed = details
        self._work = OwnWork(report)
        self.complain = self._work.complain
        for_lines = None if memory is None else memory // _LINES_OF_MEMORY
        self.recorder = LineRecorder(
            include=include, exclude=exclude, report=self._work.report, wanted=lines, memory=for_lines
        )
        self._undo = ExitStack()
        self._noting = ExitStack()  # of passes and steps
        self._may_adopt = threading.Lock()  # taken once, by the first of all threads
        self._missed = 0  # passes and steps that an error of our own kept from being noted
        self.attention = Attention(share)
        self.process: Process | None = None
        self._absence: Absence | None = None  # while it is away
        self._keeper = Keeper(self._work, self.attention, self.missed)
        self._undo.push(self._keeper.undo)

    def prepare(self) -> None:
        """Before the program has imported torch: have its code ready to be recorded."""
        self._undo.callback(self.recorder.stop)
        self._work.attempted("lines are not recorded", self.recorder.prepare)

    def start(self) -> None:
        """Begin to watch; where this torch cannot be watched, say so and do nothing."""
        self._work.attempted("errors are not explained", self._start)
        if not self.attention.is_watching:
            self.stop()

    def keep_ledger(self) -> bool:
        """Look for silent problems too, from now on or from the start; False: a ledger is kept already.

        It is kept as if the program began here: what went before is known to explanations of errors alone.
        """
        if not self._keeper.is_wanted and self.passes_seen:
            self._work.guarded("silent problems are not told from earlier ones", self._note_again)
        return self._keeper.want(self.process)

    def ledger_so_far(self) -> "Course | None":
        """How the run has gone until now, if a ledger is kept, which goes on."""
        return self._work.guarded("silent problems are not reported", self._keeper.so_far)

    def cut_short(self) -> None:
        """An error ends the program: what it was about to do is not known."""
        self._keeper.is_cut_short = True

    def close_ledger(self) -> "Course | None":
        """How the run went, if a ledger was kept; it is kept no longer."""
        return self._keeper.close()

    def _start(self) -> None:
        found = private()
        self._undo.callback(self.recorder.stop)
        process = self.process = noted(
            self.recorder, found, self.attention, self._work.apart, is_detailed=self._is_detailed
        )
        if process is None:
            self._work.report("errors are not explained: " + "; ".join(found.missing))
            return
        self._undo.callback(self._work.begin())
        self._undo.callback(self._noting.close)
        self._watch(process)
        self.attention.is_watching = True
        self._keeper.open(process)

    def _watch(self, process: Process) -> None:
        if self._memory is not None:
            process.steps.room = min(process.steps.room, self._memory // _STEPS_OF_MEMORY)
        self._replace_engine(lambda engine: watched_engine(engine, self, process.passes, self.recorder.pen))
        self._work.guarded("steps are not noted", partial(self._watch_optimizers, process))

    def _note_again(self) -> None:
        """Begin a new count of passes and steps."""
        self._count_anew()
        if self.process is not None:
            self._noting.close()
            self._watch(self.process)

    def _count_anew(self) -> None:
        process, is_gapless = self.process, self._absence is None
        if process is not None:
            self.process = process.followed_by(self.attention, self._work.apart, is_gapless=is_gapless)

    def leave(self, seconds: float) -> None:
        """Note nothing for so long, and record no lines any more; what nobody catches is explained all the same.

        Then the search for silent problems begins again, as if the program began there.
        """
        self._keeper.close()
        self.recorder.stop()
        self.attention.end()
        self._absence = Absence(seconds)

    @property
    def is_away(self) -> bool:
        """Whether nothing is noted because that would cost too much."""
        return self._absence is not None

    def _go(self, absence: Absence) -> None:
        """At the next pass: as it left, an optimizer was at its hooks, of which none may be taken away then."""
        self._noting.close()

        def call_back() -> None:
            if self._absence is absence:  # else it was stopped meanwhile
                self._replace_engine(lambda engine: returning_engine(engine, self._come_back, self.missed))

        in_seconds(absence.seconds, partial(self._work.attempted, _SEARCHED_NO_MORE, call_back))

    def _examine_unnoted(self, error: BaseException) -> None:
        """An error that nobody has caught meanwhile: of the passes before it, nothing is known."""
        self._count_anew()
        found = private()
        asked = asked_in(error.__traceback__, getattr(found.engine_owner, found.engine_name))
        if asked is not None:
            self.failed(error, None, asked)

    def _come_back(self) -> Engine:
        """What runs the pass that is about to run."""
        found = private()
        self._noting.close()
        if self.is_away and self._missed < _MISSED:
            self._work.undisturbed(self._note_again)
            self._absence, self.attention.is_watching = None, True
            self._keeper.want(self.process)
        engine: Engine = getattr(found.engine_owner, found.engine_name)
        return engine

    def stop(self) -> None:
        """Put everything back."""
        self._work.guarded(_NOT_PUT_BACK, self._undo.close)
        self.process = self._absence = None
        self._work.guarded(_NOT_PUT_BACK, self.attention.end)

    @property
    def seen(self) -> tuple[int, int]:
        """How many passes and steps there have been."""
        return (0, 0) if self.process is None else (self.process.passes.count, self.process.steps.count)

    @property
    def noted(self) -> int:
        """How many passes, steps and lines were noted, about."""
        return sum(self.seen) + self.recorder.pen.written

    @property
    def passes_seen(self) -> int:
        """How many there were since it began to watch; 0 where it watches no more."""
        return 0 if self.process is None else self.process.passes.count

    def marked_main(self, code: CodeType) -> CodeType:
        """What is to be run as the main script, so that its lines are recorded too."""
        self._may_adopt.acquire(blocking=False)  # nothing in it is defined unseen
        return self.recorder.marked(code)

    def examine_raised(self, error: BaseException) -> None:
        """An error went through the program, wherever it came from: have it explained, if nobody has yet."""
        if self.is_away:
            self._work.guarded(_UNEXPLAINED, partial(self._examine_unnoted, error))
        process = self.process
        if isinstance(error, RuntimeError) and process is not None:
            raised = raised_elsewhere(error, process, self.complain)
            self._work.guarded(_UNEXPLAINED, partial(self._explain, raised))

    def _replace_engine(self, replacing: Callable[[Engine], Engine]) -> None:
        found = private()
        owner, name = found.engine_owner, found.engine_name
        engine: Engine = getattr(owner, name)
        watched = replacing(engine)

        def put_back() -> None:
            if getattr(owner, name) is watched:  # else another tool stands before it, and may call it once more
                setattr(owner, name, engine)

        setattr(owner, name, watched)
        self._noting.callback(put_back)

    def _watch_optimizers(self, process: Process) -> None:
        from torch.compiler import is_dynamo_compiling
        from torch.optim.optimizer import register_optimizer_step_post_hook

        stepped = process.steps.noting(self.recorder.pen, is_dynamo_compiling, self)
        self._noting.callback(register_optimizer_step_post_hook(stepped).remove)

    def begins(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType
    ) -> Begun | None:
        """A pass is about to run that is not like others, or is attended to."""
        process = self.process
        if process is None or self._missed >= _MISSED or is_tracing():
            return None
        if self._absence is not None:
            self._go(self._absence)
            return None
        return self.attention.charge(partial(self._noted, process, (tensors, args, named, frame)))

    def _noted(self, process: Process, asked: Asked) -> Begun:
        tensors, args, named, frame = asked
        if process.passes.begun == 0:
            self.adopt()
        begun = process.passes.begin(tensors, args, named, frame, self.recorder.pen.page())
        self._keeper.pass_begins(begun, tensors, frame)
        return begun

    def ended(self, begun: Begun) -> None:
        """Such a pass has run."""
        process = self.process
        if process is not None:
            process.passes.ended(begun)
        self.attention.charge(partial(self._keeper.pass_ended, begun))

    def stepped(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """An optimizer has stepped, which is attended to."""
        self.attention.charge(partial(self._keeper.step_ended, optimizer))

    def adopt(self) -> None:
        """Before the first pass, or when training is about to begin, take in what was defined before gradsan came."""
        if self._may_adopt.acquire(blocking=False):
            self._work.guarded("functions that were there before are not recorded", self.recorder.adopt)

    def failed(self, error: BaseException, begun: Begun | None, asked: Asked) -> None:
        """A pass has raised; one that was not noted as it began is noted now."""
        process = self.process
        if process is not None and (begun is not None or not is_tracing()):
            self._work.uncollected(_UNEXPLAINED, partial(self._explain_pass, process, error, begun, asked))

    def _explain_pass(self, process: Process, error: BaseException, begun: Begun | None, asked: Asked) -> None:
        tensors, _, _, frame = asked
        failing = process.passes.failed(begun or self._noted(process, asked), frame)
        if failing is not None and isinstance(error, RuntimeError):
            self._explain(raised_in_pass(error, tuple(tensors), failing, process, self.complain))

    def missed(self, error: BaseException) -> None:
        """An error of our own kept a pass or a step from being noted; where that goes on, none is noted any more."""
        if isinstance(error, RecursionError):  # a program near its own limit, for which this was too deep
            return
        self._missed += 1
        self.complain("not every pass and step is noted", error)
        if self._missed >= _MISSED:
            self.attention.end()
