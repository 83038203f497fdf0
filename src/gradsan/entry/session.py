"""gradsan in this process: switched on and off as a whole, through whichever entry point."""

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from gradsan.entry.among_ranks import AmongRanks
from gradsan.entry.notebook import show_summary
from gradsan.entry.prompt import at_prompt
from gradsan.entry.screen import USUAL, Style, encodable, screen_of
from gradsan.entry.speaking import explained, speak
from gradsan.entry.uncaught import chain, without_ours
from gradsan.errors import TorchMissingError
from gradsan.explanation.explainer import Explainer, diagnosis_on
from gradsan.explanation.findings import Conclusion, Findings
from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.import_hook import is_installed, is_loaded, when_loaded
from gradsan.observe.sanitizer import Sanitizer
from gradsan.report import Diagnosis

if TYPE_CHECKING:
    from gradsan.report import Summary


class Session:
    """The sanitizer with what it needs around it. It waits for torch if that is not imported yet.

    `own_hooks` says whether errors that nobody catches reach it through `sys.excepthook`; whoever runs the program
    can hand them to `ended_by` instead. `keeps_ledger` says whether silent problems are looked for too, `details`
    whether what a page shows is recorded, `share` how much of the program's time all of it may take.
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

    def show(self, silent: Iterable[Diagnosis]) -> None:
        """Print silent problems that no other rank has printed."""
        speak("".join(map(explained, self.ranks.unsaid(silent))))

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
            attempt(lambda: act(original, *args), _unexplained)
        return original(*args)

    def take_away() -> None:
        nonlocal wanted
        wanted = False  # where the program has put its own before it, that one may still call it
        if getattr(owner, name, None) is hook:
            setattr(owner, name, original)

    setattr(owner, name, hook)
    return take_away


def _unexplained(error: BaseException) -> None:
    say(f"an error is not explained: {shown(error)}")


_installed: Session | None = None


def install(
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    lines: bool = True,
    budget: str | float | None = None,
    to: Callable[[Diagnosis], None] | None = None,
) -> None:
    """Explain errors of backward passes from here on, on the exceptions themselves.

    `include` and `exclude` are paths or globs of files that are the user's, or are not. A second call does nothing.
    On Python 3.11 the lines of a script that is running already are not recorded; its functions are, from the first
    pass on. `gradsan run` and the variable GRADSAN come early enough to record everything.
    With `lines=False` no line is recorded: explanations are then completed from the source, and are `likely` at best.
    With a `budget` ("0.5%" of the program's time) silent problems are looked for as well, for as long as the program
    runs, and `to` is called with each, once; without it, they go to the logger `gradsan`.
    """
    share = None if budget is None and to is None else _share(budget)
    try:
        if not is_installed("torch"):
            raise TorchMissingError(  # noqa: TRY301 # the one error that is meant for the caller
                "torch is not installed for this Python", "install it with `pip install torch`"
            )
        if _installed is None:
            session = Session(
                include=include, exclude=exclude, lines=lines, keeps_ledger=share is not None, share=share
            )
            take_over(session)
            if share is not None:
                _report_meanwhile(session, to)
    except TorchMissingError:
        raise
    except BaseException as error:
        if not is_ours(error):
            raise
        say(f"errors are not explained: {shown(error)}")


def _share(budget: str | float | None) -> float:
    from gradsan.entry.production import USUAL, share_of

    return share_of(USUAL if budget is None else budget)


def _report_meanwhile(session: Session, to: Callable[[Diagnosis], None] | None) -> None:
    from gradsan.entry.production import Production, to_logger

    Production(session, to or to_logger()).begin()


def uninstall() -> None:
    """Undo `install()`: every name is what it was, and nothing is recorded any more."""
    global _installed  # one in a process
    try:
        session, _installed = _installed, None
        if session is not None:
            session.stop()
    except BaseException as error:
        if not is_ours(error):
            raise
        say(f"not everything was put back: {shown(error)}")


def is_on() -> bool:
    """Whether gradsan watches this process, or will when torch comes."""
    return _installed is not None


def current_session() -> Session | None:
    """What watches this process."""
    return _installed


def take_over(session: Session) -> None:
    """Let it be the one of the process."""
    global _installed  # noqa: PLW0603 # as above
    uninstall()
    _installed = session
    session.start()


class Watch:
    """What is found within `with gradsan.watch()`."""

    def __init__(self) -> None:
        self._found = Findings()
        self.summary: Summary | None = None  # what was done within the block, in numbers, when it is over

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """What has been found: errors at once, those that the program caught included; silent problems at the end."""
        return tuple(self._found)


@contextmanager
def watch(*, include: Iterable[str] = (), exclude: Iterable[str] = (), quiet: bool = False) -> Iterator[Watch]:
    """Explain errors within a block, look for silent problems, and collect what is found.

    At its end a summary goes to stderr, or in a notebook below the cell, unless `quiet`. Where gradsan is installed
    already, it stays so.
    """
    was_installed = _installed is not None
    install(include=include, exclude=exclude)
    session, watching = _installed, Watch()
    if session is None:  # it could not begin, or another thread has uninstalled it meanwhile
        yield watching
        return
    listeners = session.explainer.listeners
    listeners.append(watching._found)  # noqa: SLF001 # its own
    is_own_ledger = attempt(session.sanitizer.keep_ledger, _unsaid)
    before = session.sanitizer.seen
    has_failed = False
    try:
        yield watching
    except BaseException as error:
        has_failed = True
        attempt(partial(session.ended_by, error), _unexplained)
        raise
    finally:
        if is_own_ledger and not has_failed:
            attempt(lambda: _conclude(session, watching, before, quiet=quiet), _unsaid)
        listeners.remove(watching._found)  # noqa: SLF001 # as above
        if is_own_ledger:
            attempt(session.sanitizer.close_ledger, _unsaid)
        if not was_installed:
            uninstall()


def _unsaid(error: BaseException) -> None:
    say(f"silent problems are not reported: {shown(error)}")


def _conclude(session: Session, watching: Watch, before: tuple[int, int], *, quiet: bool) -> None:
    concluded = session.conclude()
    watching.summary = _since(concluded.summary, *before)
    for each in concluded.silent:
        watching._found.add(each)  # noqa: SLF001 # as above
    if not quiet and watching.summary is not None:
        show_summary(watching.summary, concluded.silent)


def _since(summary: "Summary | None", passes: int, steps: int) -> "Summary | None":
    """The numbers of a block: without what the process had done before it."""
    return None if summary is None else replace(summary, passes=summary.passes - passes, steps=summary.steps - steps)


def explain(error: BaseException) -> Diagnosis | None:
    """The diagnosis of a caught exception, or of what led to it; None where gradsan has nothing to say about it."""
    try:
        if _installed is not None:
            return _installed.explain(error)
        return next((found for found in map(diagnosis_on, chain(error)) if found is not None), None)
    except BaseException as own:
        if not is_ours(own):
            raise
        _unexplained(own)
        return None
