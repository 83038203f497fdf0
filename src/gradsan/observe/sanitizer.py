"""The sanitizer: installed in a process, it explains the errors of passes on the exceptions themselves."""

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from gradsan.observe.passes import Asked, Passes, PassNote
from gradsan.observe.private import private
from gradsan.observe.recorder import LineRecorder
from gradsan.observe.steps import Steps
from gradsan.report import Diagnosis

T = TypeVar("T")
Engine = Callable[..., Any]

_CHECKPOINT = "torch/utils/checkpoint.py"
_OURS = "__gradsan__"  # where an exception keeps its diagnosis


class Sanitizer:
    """One in a process. `tell` receives what there is to say about gradsan itself: one line each time."""

    def __init__(
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        tell: Callable[[str], None] = lambda line: print(f"gradsan: {line}", file=sys.stderr),  # noqa: T201 # to its user
    ) -> None:
        self._tell = tell
        self.recorder = LineRecorder(include=include, exclude=exclude, tell=tell)
        self.diagnoses: list[Diagnosis] = []
        self._undo = ExitStack()
        self._passes: Passes | None = None
        self._steps: Steps | None = None

    def start(self) -> None:
        """Begin to watch; where this torch cannot be watched, say so and do nothing."""
        found = private()
        if found.engine_owner is None or found.op_counter is None or not found.node_numbers:
            self._tell("errors are not explained: " + "; ".join(found.missing))
            return
        self._passes = Passes(self.recorder.ownership, found.op_counter)
        self._steps = Steps(self.recorder.ownership, found.op_counter, lambda: self._passes.count if self._passes else 0)
        self.recorder.start()
        self._undo.callback(self.recorder.stop)
        self._watch_engine(found.engine_owner, found.engine_name)
        self._watch_optimizers(self._steps)

    def stop(self) -> None:
        """Put everything back."""
        self._undo.close()

    def compile_main(self, source: bytes, filename: str) -> CodeType:
        """How the main script is compiled, so that its lines are recorded too."""
        return self.recorder.compile_user(source, filename)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """The diagnosis of an error that came from a pass."""
        found = getattr(error, _OURS, None)
        return found if isinstance(found, Diagnosis) else None

    def _watch_engine(self, owner: Any, name: str) -> None:  # noqa: ANN401 # a module
        engine: Engine = getattr(owner, name)

        def watched(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
            note = self._begin(tensors, args, named, sys._getframe(1))  # noqa: SLF001 # the only way to a frame
            try:
                result = engine(tensors, *args, **named)
            except BaseException as error:
                self._failed(error, tensors, note)
                raise
            self._end(note)
            return result

        setattr(owner, name, watched)
        self._undo.callback(setattr, owner, name, engine)

    def _watch_optimizers(self, steps: Steps) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def stepped(optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
            self._guarded(lambda: steps.note(optimizer))

        self._undo.callback(register_optimizer_step_post_hook(stepped).remove)

    def _begin(self, tensors: Any, args: tuple[Any, ...], named: dict[str, Any], frame: FrameType) -> PassNote | None:  # noqa: ANN401 # as above
        passes = self._passes
        if passes is None:
            return None
        return self._guarded(lambda: passes.begin(tensors, Asked.of(args, named), frame))

    def _end(self, note: PassNote | None) -> None:
        passes = self._passes
        if passes is not None and note is not None:
            self._guarded(lambda: passes.end(note, failed=False))

    def _failed(self, error: BaseException, tensors: Any, note: PassNote | None) -> None:  # noqa: ANN401 # as above
        passes, steps = self._passes, self._steps
        if passes is None or steps is None or note is None:
            return
        self._guarded(lambda: passes.end(note, failed=True))
        if isinstance(error, RuntimeError) and self.explain(error) is None:
            self._guarded(lambda: self._explain(error, tuple(tensors), note, passes, steps))

    def _explain(
        self, error: RuntimeError, tensors: tuple[Any, ...], note: PassNote, passes: Passes, steps: Steps
    ) -> None:
        # Only now is there something to show: until here, nothing but the standard library was loaded.
        from gradsan.causes.diagnosing import diagnose
        from gradsan.observe.postmortem import Scene, examine
        from gradsan.report import RaisedError
        from gradsan.show.text import story

        frames = _frames(error.__traceback__)
        scene = Scene(
            tensors=tensors,
            note=note,
            passes=passes,
            steps=steps,
            lines=self.recorder.lines(),
            in_checkpoint=any(_CHECKPOINT in each.f_code.co_filename.replace("\\", "/") for each in frames),
        )
        incident = examine(str(error), scene)
        if incident is None:
            return
        diagnosis = diagnose(incident, RaisedError(type(error).__name__, str(error)), None)
        setattr(error, _OURS, diagnosis)
        self.diagnoses.append(diagnosis)
        error.add_note("\n" + story(diagnosis, width=100, color=False).rstrip())

    def _guarded(self, act: Callable[[], T]) -> T | None:
        """Nothing that goes wrong in here may reach the program: say it in one line, and watch no more."""
        try:
            return act()
        except Exception as error:  # noqa: BLE001 # whatever it is
            self._passes = None
            self._tell(f"errors are no longer explained: {type(error).__name__}: {error}")
            return None


def _frames(traceback: TracebackType | None) -> list[FrameType]:
    """The frames that an exception went through, and those that had called them."""
    frames = []
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    above = frames[0].f_back if frames else None
    while above is not None:
        frames.insert(0, above)
        above = above.f_back
    return frames
