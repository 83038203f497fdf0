"""gradsan in this process: switched on and off as a whole, through whichever entry point."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradsan.entry.notebook import show_summary
from gradsan.entry.session import Session, unexplained
from gradsan.entry.uncaught import chain
from gradsan.errors import TorchMissingError
from gradsan.explanation.explainer import diagnosis_on
from gradsan.explanation.findings import Findings
from gradsan.observe.guarding import attempt, is_ours, say, shown
from gradsan.observe.import_hook import is_installed
from gradsan.report import Diagnosis

if TYPE_CHECKING:
    from gradsan.report import Summary

_installed: Session | None = None


def install(
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    lines: bool = True,
    budget: str | float | None = None,
    memory: str | int | None = None,
    to: Callable[[Diagnosis], None] | None = None,
) -> None:
    """Explain errors of backward passes from here on, on the exceptions themselves.

    `include` and `exclude` are paths or globs of files that are the user's, or are not. A second call does nothing.
    On Python 3.11 the lines of a script that is running already are not recorded; its functions are, from the first
    pass on. `gradsan run` and the variable GRADSAN come early enough to record everything.
    With `lines=False` no line is recorded: explanations are then completed from the source, and are `likely` at best.
    With a `budget` ("0.5%" of the program's time) silent problems are looked for as well, for as long as the program
    runs, and `to` is called with each, once; without it, they go to the logger `gradsan`.
    `memory` ("64MB", or bytes) is how much the notes may take: where they would take more, the search ends.
    """
    share = None if budget is None and to is None and memory is None else _share(budget)
    room = None if memory is None else _room(memory)
    try:
        if not is_installed("torch"):
            raise TorchMissingError(  # noqa: TRY301 # the one error that is meant for the caller
                "torch is not installed for this Python", "install it with `pip install torch`"
            )
        if _installed is None:
            session = Session(
                include=include, exclude=exclude, lines=lines, keeps_ledger=share is not None, share=share, memory=room
            )
            take_over(session)
            if share is not None:
                _report_meanwhile(session, to, share, room)
    except TorchMissingError:
        raise
    except BaseException as error:
        if not is_ours(error):
            raise
        say(f"errors are not explained: {shown(error)}")


def _share(budget: str | float | None) -> float:
    from gradsan.entry.production import USUAL, share_of

    return share_of(USUAL if budget is None else budget)


def _room(memory: str | int) -> int:
    from gradsan.entry.production import room_of

    return room_of(memory)


def _report_meanwhile(session: Session, to: Callable[[Diagnosis], None] | None, share: float, room: int | None) -> None:
    from gradsan.entry.production import Production, to_logger

    Production(session, to or to_logger(), share, room).begin()


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
        attempt(partial(session.ended_by, error), unexplained)
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
    unsaid = None if quiet else session.ranks.left_to_say(concluded.silent)
    if unsaid is not None and watching.summary is not None:
        show_summary(watching.summary, unsaid)


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
        unexplained(own)
        return None
