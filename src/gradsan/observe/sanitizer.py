"""The sanitizer: installed in a process, it notes passes and steps, and hands on what is to be explained."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from gradsan.observe.attention import Attention
from gradsan.observe.callers import Callers
from gradsan.observe.cells import CELLS
from gradsan.observe.compilation import compiles_to_nothing, stay_out
from gradsan.observe.engine import Asked, Engine, watched_engine
from gradsan.observe.gc_pause import collector_at_rest, observers_at_rest
from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.notes import Begun
from gradsan.observe.passes import Passes
from gradsan.observe.private import compiler_switch, is_tracing, private
from gradsan.observe.raised import Explain, Raised, explain_nothing
from gradsan.observe.steps import Steps
from gradsan.observe.tape import Tape

if TYPE_CHECKING:
    from gradsan.facts.course import Course
    from gradsan.observe.examining import Examiner
    from gradsan.observe.ledger.book import Ledger
    from gradsan.observe.observed import Observed

T = TypeVar("T")

_TELLING = 80  # characters of a message that tell one kind of error from another
_MISSED = 3  # passes and steps that are not noted, before none is
_COMPLAINTS = 64  # that are remembered

_UNEXPLAINED = "an error is not explained"
_NO_LEDGER = "silent problems are not looked for"


class Sanitizer:
    """One in a process. `tell` receives what there is to say about gradsan itself: one line each time.

    `explain` is given every error of a pass; `lines` says whether the lines that run are recorded.
    """

    def __init__(
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        explain: Explain = explain_nothing,
        tell: Callable[[str], None] = say,
        lines: bool = True,
    ) -> None:
        self._hear = tell
        self._explain = explain
        self.recorder = LineRecorder(include=include, exclude=exclude, tell=self._tell, wanted=lines)
        self._undo = ExitStack()
        self._may_adopt = threading.Lock()  # taken once, by the first of all threads
        self._switch_compiler: Callable[[object], object] = lambda _: None
        self._complaints: set[str] = set()
        self._missed = 0  # passes and steps that an error of our own kept from being noted
        self._tape = Tape("Q")
        self.attention = Attention(self._tape)
        self._passes: Passes | None = None
        self._steps: Steps | None = None
        self._wants_ledger = False
        self._close_ledger = ExitStack()
        self._undo.push(self._close_ledger)
        self._ledger: Ledger | None = None

    def prepare(self) -> None:
        """Before the program has imported torch: have its code ready to be recorded."""
        self._undo.callback(self.recorder.stop)
        attempt(self.recorder.prepare, partial(self.complain, "lines are not recorded"))

    def start(self) -> None:
        """Begin to watch; where this torch cannot be watched, say so and do nothing."""
        attempt(self._start, partial(self.complain, "errors are not explained"))
        if not self.attention.is_watching:
            self.stop()

    def keep_ledger(self) -> bool:
        """Look for silent problems too, from now on or from the start; False: a ledger is kept already."""
        if self._wants_ledger:
            return False
        self._wants_ledger = True
        if self._passes is not None:
            self._guarded(_NO_LEDGER, self._open_ledger)
        return True

    def close_ledger(self) -> "Course | None":
        """How the run went, if a ledger was kept; it is kept no longer."""
        ledger, self._ledger, self._wants_ledger = self._ledger, None, False

        def close() -> "Course | None":
            self._tape.take_in()
            self.attention.sleep()
            self._close_ledger.close()
            return None if ledger is None else CELLS.named(ledger.close())

        return self._guarded("silent problems are not reported", close)

    def _start(self) -> None:
        found = private()
        counter, running_pass = found.op_counter, found.running_pass
        if found.engine_owner is None or counter is None or running_pass is None or not found.node_numbers:
            self._tell("errors are not explained: " + "; ".join(found.missing))
            return
        self._undo.callback(self.recorder.stop)
        self.recorder.start()
        callers = Callers(self.recorder, self._apart)
        passes = self._passes = Passes(
            callers, counter, running_pass, self._tape, self.recorder.pen.threads, self._apart
        )
        steps = self._steps = Steps(callers, passes, self.attention, self._apart)
        self._undo.callback(stay_out())
        self._switch_compiler = compiler_switch()
        self._watch_engine(found.engine_owner, found.engine_name, passes)
        self.attention.is_watching = True
        self._guarded("steps are not noted", lambda: self._watch_optimizers(steps))
        if self._wants_ledger:
            self._guarded(_NO_LEDGER, self._open_ledger)

    def stop(self) -> None:
        """Put everything back."""
        self._guarded("not everything was put back", self._undo.close)
        self._passes = None
        self._guarded("not everything was put back", self.attention.end)

    @property
    def passes_seen(self) -> int:
        """How many there were since it began to watch; 0 where it watches no more."""
        return 0 if self._passes is None else self._passes.count

    def marked_main(self, code: CodeType) -> CodeType:
        """What is to be run as the main script, so that its lines are recorded too."""
        self._may_adopt.acquire(blocking=False)  # nothing in it is defined unseen
        return self.recorder.marked(code)

    def examine_raised(self, error: BaseException) -> None:
        """An error went through the program, wherever it came from: have it explained, if nobody has yet."""
        passes, steps = self._passes, self._steps
        if isinstance(error, RuntimeError) and passes is not None and steps is not None:
            raised = Raised(error, None, lambda: self._examiner(passes, steps).of_reading(error), self.complain)
            self._guarded(_UNEXPLAINED, lambda: self._explain(raised))

    def _watch_engine(self, owner: Any, name: str, passes: Passes) -> None:  # noqa: ANN401 # a module
        engine: Engine = getattr(owner, name)
        watched = watched_engine(engine, self, passes, self.recorder.pen)

        def put_back() -> None:
            if getattr(owner, name) is watched:  # else another tool stands before it, and may call it once more
                setattr(owner, name, engine)

        setattr(owner, name, watched)
        self._undo.callback(put_back)

    def begins(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType
    ) -> Begun | None:
        """A pass is about to run that is not like others, or is attended to."""
        passes = self._passes
        if passes is None or self._missed >= _MISSED or is_tracing():
            return None
        return self._noted(passes, tensors, args, named, frame)

    def _noted(
        self,
        passes: Passes,
        tensors: Sequence[Any],
        args: tuple[Any, ...],
        named: dict[str, Any],
        frame: FrameType,
    ) -> Begun:
        ledger = self._ledger
        if passes.begun == 0:
            self._adopt()
        begun = passes.begin(tensors, args, named, frame, self.recorder.pen.page())
        if ledger is not None:
            self._guarded("silent problems are overlooked", partial(ledger.pass_begins, begun, tensors, frame))
        return begun

    def ended(self, begun: Begun) -> None:
        """Such a pass has run."""
        passes, ledger = self._passes, self._ledger
        if passes is not None:
            passes.ended(begun)
        if ledger is not None:
            self._undisturbed(lambda: ledger.pass_ended(begun))

    def _watch_optimizers(self, steps: Steps) -> None:
        from torch.compiler import is_dynamo_compiling
        from torch.optim.optimizer import register_optimizer_step_post_hook

        stepped = steps.noting(self.recorder.pen, is_dynamo_compiling, self)
        self._undo.callback(register_optimizer_step_post_hook(stepped).remove)

    def stepped(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class
        """An optimizer made a step that is attended to."""
        ledger = self._ledger
        if ledger is not None:
            self._undisturbed(lambda: ledger.step_ended(optimizer))

    def _open_ledger(self) -> None:
        from torch.compiler import is_dynamo_compiling
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        from gradsan.observe.ledger.book import Ledger

        passes, steps, counter, attention = self._passes, self._steps, private().op_counter, self.attention
        if passes is None or steps is None or counter is None:
            return

        @compiles_to_nothing
        def steps_now(optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
            if is_dynamo_compiling():
                return
            try:
                ledger = self._ledger
                if attention.is_on and ledger is not None:
                    self._undisturbed(lambda: ledger.step_begins(optimizer))
            except BaseException as error:
                if not is_ours(error):
                    raise
                self.missed(error)

        self._ledger = Ledger(passes, steps, self.recorder, counter, attention, self._tell)
        attention.wake()
        self._close_ledger.callback(register_optimizer_step_pre_hook(steps_now).remove)

    def _adopt(self) -> None:
        """Before the first pass, take in what was defined before gradsan came."""
        if self._may_adopt.acquire(blocking=False):
            self._guarded("functions that were there before are not recorded", self.recorder.adopt)

    def failed(self, error: BaseException, begun: Begun | None, asked: Asked) -> None:
        """A pass has raised; one that was not noted as it began is noted now."""
        passes, steps = self._passes, self._steps
        if passes is None or steps is None or (begun is None and is_tracing()):
            return

        def explain() -> None:
            tensors, args, named, frame = asked
            failing = passes.failed(begun or self._noted(passes, tensors, args, named, frame), frame)
            if failing is None or not isinstance(error, RuntimeError):
                return

            def observe() -> "Observed | None":
                return self._examiner(passes, steps).of_pass(error, tuple(tensors), failing)

            with collector_at_rest():
                self._explain(Raised(error, (failing.site.line, str(error)[:_TELLING]), observe, self.complain))

        self._guarded(_UNEXPLAINED, explain)

    def _examiner(self, passes: Passes, steps: Steps) -> "Examiner":
        # Only now is there something to look at: until here, nothing but the standard library was loaded.
        from gradsan.observe.examining import Examiner

        return Examiner(self.recorder, passes, steps, self.complain)

    def complain(self, what: str, error: BaseException) -> None:
        """An explanation with less in it is better than none."""
        line = shown(error)
        # Each is told once: a program may meet it in every step. One that is near its own limit knows.
        if line not in self._complaints and not isinstance(error, RecursionError):
            if len(self._complaints) < _COMPLAINTS:
                self._complaints.add(line)
            self._tell(f"{what}: {line}")

    def _guarded(self, otherwise: str, act: Callable[[], T]) -> T | None:
        """What `act` answers. An error of our own costs that alone: `otherwise` is said of it in one line."""
        return attempt(lambda: self._undisturbed(act), lambda error: self.complain(otherwise, error))

    def _apart(self, act: Callable[[], T]) -> T:
        """Not even what gradsan calls in the standard library is to be compiled with the program."""
        compiler = self._switch_compiler(None)
        try:
            return act()
        finally:
            self._switch_compiler(compiler)

    def _undisturbed(self, act: Callable[[], T]) -> T:
        """The same, for what takes its time: the program's own tracer is not to run in every line of it."""
        with observers_at_rest():
            return self._apart(act)

    def missed(self, error: BaseException) -> None:
        """An error of our own kept a pass or a step from being noted; where that goes on, none is noted any more."""
        if isinstance(error, RecursionError):  # a program near its own limit, for which this was too deep
            return
        self._missed += 1
        self.complain("not every pass and step is noted", error)
        if self._missed >= _MISSED:
            self.attention.end()

    def _tell(self, line: str) -> None:
        attempt(lambda: self._hear(" ".join(line.split())), lambda _: None)  # a closed stderr, say
