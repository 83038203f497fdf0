"""What a process reports when it ends: its silent problems, if they were looked for, and those of its ranks."""

import atexit
import os
import sys
from functools import partial

from gradsan.entry.among_ranks import summary_of_ranks
from gradsan.entry.screen import screen_of
from gradsan.entry.session import Session
from gradsan.entry.siblings import is_spawned
from gradsan.entry.speaking import explained, speak
from gradsan.observe.guarding import attempt, say, shown


def reporting_session(*, keeps_ledger: bool) -> Session:
    """A session of which this process reports when it ends; forks of it report errors alone."""
    session = Session(keeps_ledger=keeps_ledger, arriving=lambda: report_in_children(session))
    atexit.register(attempt, partial(_end, session, os.getpid()), _unreported)
    return session


def report_in_children(session: Session) -> None:
    """Have processes that multiprocessing starts report too: it handles their errors, and forks skip `atexit`."""
    from multiprocessing import util

    began = os.getpid()

    def wait(session: Session) -> None:
        util.Finalize(None, attempt, (partial(_child_ends, session, began), _unreported), exitpriority=0)

    if is_spawned():
        wait(session)
    else:
        util.register_after_fork(session, wait)


def print_what_ranks_found() -> None:
    """On stderr, when all of them have ended, or soon will be made to."""
    speak(summary_of_ranks(explained))


def _end(session: Session, process: int) -> None:
    if os.getpid() != process:
        return
    _report(session)
    session.ranks.confirm()
    print_what_ranks_found()


def _child_ends(session: Session, began: int) -> None:
    """Called by multiprocessing while it handles the error that ends the process, if there is one."""
    session.ended_by(sys.exception(), ends_process=True)
    if os.getpid() == began:
        _report(session)
    session.ranks.confirm()


def _report(session: Session) -> None:
    if not session.has_seen_passes:
        return
    has_failed = getattr(sys, "last_value", None) is not None  # then its traceback stands above
    concluded = session.conclude()
    if concluded.summary is None:
        return
    from gradsan.causes.silence import folded

    errors = list(session.uncaught)
    session.ranks.leave(folded(errors, concluded.silent) if errors else concluded.silent, concluded.summary)
    if errors or (has_failed and not concluded.silent):
        return
    from gradsan.show.text import closing

    unsaid = session.ranks.unsaid(concluded.silent)
    if unsaid or (not concluded.silent and session.ranks.says_that_all_is_well()):
        screen = screen_of(sys.stderr)
        speak(closing(concluded.summary, unsaid, width=screen.width, color=screen.color))


def _unreported(error: BaseException) -> None:
    say(f"not everything is reported: {shown(error)}")
