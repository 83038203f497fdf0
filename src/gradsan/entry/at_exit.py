"""`GRADSAN=run`: what was wrong with a run that never raised, reported when the process ends."""

import atexit
import os
import sys
from functools import partial

from gradsan.entry.screen import screen_of
from gradsan.entry.session import Session
from gradsan.entry.speaking import speak
from gradsan.observe.guarding import attempt, say, shown


def report_at_exit(session: Session) -> None:
    """Have the silent problems of this process reported; those of its forks are their own."""
    atexit.register(attempt, partial(_report, session, os.getpid()), _unreported)


def _report(session: Session, process: int) -> None:
    if os.getpid() != process or not session.has_seen_passes:
        return
    has_failed = getattr(sys, "last_value", None) is not None  # then its traceback stands above
    concluded = session.conclude()
    if concluded.summary is None or list(session.uncaught) or (has_failed and not concluded.silent):
        return
    from gradsan.show.text import closing

    screen = screen_of(sys.stderr)
    speak(closing(concluded.summary, concluded.silent, width=screen.width, color=screen.color))


def _unreported(error: BaseException) -> None:
    say(f"silent problems are not reported: {shown(error)}")
