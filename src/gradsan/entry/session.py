"""The sanitizer with what it needs around it: hooks for what nobody catches, an explainer, other ranks."""

import sys
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from functools import partial
from types import CodeType, FrameType
from typing import Any

from gradsan.entry.among_ranks import AmongRanks
from gradsan.entry.prompt import at_prompt
from gradsan.entry.screen import USUAL, Style, encodable, screen_of
from gradsan.entry.uncaught import chain, without_ours
from gradsan.explanation.explainer import Explainer, diagnosis_on
from gradsan.explanation.findings import Conclusion, Findings
from gradsan.observe.guarding import attempt, say, shown
from gradsan.observe.import_hook import is_loaded, when_loaded
from gradsan.observe.sanitizer import Sanitizer
from gradsan.report import Diagnosis


class Session:
    """The sanitizer with what it needs around it. It waits for torch if that is not imported yet.

    `own_hooks` says whether errors that nobody catches reach it through `sys.excepthook`; whoever runs the program
    can hand them to `ended_by` instead. `keeps_ledger` says whether silent problems are looked for too, `details`
    whether what a page shows is recorded, `share` how much of the program's time all of it may take, and
    `memory` how many bytes.
    """

    def __init__(  # noqa: PLR0913 # one for each wish
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        wants: Callable[[str], bool] = lambda _: True,
        report: Callable[[str], None] = say,
        own_hooks: bool = True,
        style: Style = USUAL,
        keeps_ledger: bool = False,
        details: bool = False,
        lines: bool = True,
        share: float | None = None,
        memory: int | None = None,
        arriving: Callable[[], None] | None = None,
    ) -> None:
        self._arriving = arriving  # called when torch has come, before anything of it is watched
        self.ranks = AmongRanks()
        self.explainer = Explainer(wants, verbose=style.verbose, share=share, named=self.ranks.named)
        self._style = style
        self.sanitizer = Sanitizer(
            include=include,
            exclude=exclude,
            explain=self.explainer.explain,
            report=report,
            lines=lines,
            details=details,
            share=share,
            memory=memory,
        )
        self.uncaught = Findings()  # of errors that ended the program or a thread
        self._own_hooks = own_hooks
        self._undo = ExitStack()
        if keeps_ledger:
            self.sanitizer.keep_ledger()

    def start(self) -> None:
        """Begin, at once or when the program imports torch."""
        if is_loaded("torch"):
            self._begin()
        else:
            self.sanitizer.prepare()
            self._undo.callback(when_loaded("torch", self._begin))

    def stop(self) -> None:
        """Put everything back."""
        self._undo.close()
        self.sanitizer.stop()

    def when_stopped(self, act: Callable[[], object]) -> None:
        """Have it called before everything is put back."""
        self._undo.callback(act)

    def marked_main(self, code: CodeType) -> CodeType:
        """What is to be run as the main script, so that its lines are recorded too."""
        return self.sanitizer.marked_main(code)

    def ended_by(self, error: BaseException | None, *, is_printed: bool = False, ends_process: bool = False) -> None:
        """Nobody caught this: whatever is explained in its chain is a finding, and gradsan's frames are not shown.

        `is_printed`: Python is about to print it on stderr, as it is. `ends_process`: it ends the program, and not a
        block or a thread of it; then a rank refers to another that explains the same.
        """
        if ends_process and error is not None and not isinstance(error, SystemExit):
            self.sanitizer.cut_short()
        for each in chain(error):
            each.__traceback__ = without_ours(each.__traceback__)
            diagnosis = self.explain_raised(each)
            if diagnosis is None:
                continue
            self.uncaught.add(diagnosis)
            line = self.ranks.instead(diagnosis) if ends_process else None
            if line is not None:
                self.explainer.shorten(each, line)
            elif is_printed:
                screen = screen_of(sys.stderr, self._style.color)
                letters = partial(encodable, stream=sys.stderr)
                self.explainer.fit(each, width=screen.width, color=screen.color, letters=letters)
        if ends_process and list(self.uncaught):  # now: whoever started the ranks may end this one before it is done
            self.ranks.leave(list(self.uncaught), None)

    def training_begins(self, frame: FrameType | None) -> Callable[[], None]:
        """Have the lines of all functions recorded that there are; what is returned is called when training is over.

        `frame`: whoever called the trainer, and waits for it at that line.
        """
        self.sanitizer.adopt()
        return (lambda: None) if frame is None else self.sanitizer.recorder.hold(frame)

    def conclude(self, known: Collection[str] = ()) -> Conclusion:
        """What the run did, and what was wrong with it that never raised. The ledger is closed by that.

        `known`: the fingerprints of what was said before.
        """
        return self.explainer.conclude(self.sanitizer.close_ledger(), self.sanitizer.complain, known)

    def conclude_so_far(self, known: Collection[str] = ()) -> Conclusion:
        """The same of a run that goes on, as does the ledger."""
        return self.explainer.conclude(self.sanitizer.ledger_so_far(), self.sanitizer.complain, known)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """The diagnosis of an error, or of what led to it."""
        found = (self.explain_raised(each) for each in chain(error))
        return next((each for each in found if each is not None), None)

    def explain_raised(self, error: BaseException) -> Diagnosis | None:
        """The diagnosis of an error that went through the program, wherever it came from."""
        if diagnosis_on(error) is None:
            self.sanitizer.examine_raised(error)
        return diagnosis_on(error)

    @property
    def has_seen_passes(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.explainer.diagnoses) or self.sanitizer.passes_seen > 0

    def _begin(self) -> None:
        if self._arriving is not None:
            self._arriving()
        sanitizer = self.sanitizer
        sanitizer.start()
        self._undo.callback(at_prompt(sanitizer.recorder.marked, lambda: sanitizer.passes_seen, self.ended_by))
        self._undo.callback(_before(threading, "excepthook", self._thread_ended_by))
        if self._own_hooks:
            self._undo.callback(_before(sys, "excepthook", self._program_ended_by))

    def _thread_ended_by(self, original: object, args: threading.ExceptHookArgs) -> None:
        self.ended_by(args.exc_value, is_printed=original is threading.__excepthook__)

    def _program_ended_by(self, original: object, _kind: object, error: BaseException, _traceback: object) -> None:
        self.ended_by(error, is_printed=original is sys.__excepthook__, ends_process=True)


def _before(owner: Any, name: str, act: Callable[..., None]) -> Callable[[], None]:  # noqa: ANN401 # a module
    """Have `act` called before the function that stands there, with it; what is returned takes it away again."""
    original = getattr(owner, name)
    wanted = True

    def hook(*args: Any) -> Any:  # noqa: ANN401 # as the original
        if wanted:
            attempt(lambda: act(original, *args), unexplained)
        return original(*args)

    def take_away() -> None:
        nonlocal wanted
        wanted = False  # where the program has put its own before it, that one may still call it
        if getattr(owner, name, None) is hook:
            setattr(owner, name, original)

    setattr(owner, name, hook)
    return take_away


def unexplained(error: BaseException) -> None:
    """An error of our own has cost an explanation."""
    say(f"an error is not explained: {shown(error)}")
