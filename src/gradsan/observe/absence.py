"""Time in which nothing of gradsan's stands in the program's way, because what it notes would cost too much.

Nothing is left behind that a step would pass by, so somebody else has to watch the clock: a thread that sleeps. All
that it does is to put one function into the engine's entry, which the next pass comes through.
"""

import _thread
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from gradsan.observe.guarding import is_ours
from gradsan.observe.hidden_frames import hidden
from gradsan.observe.watched_engine import Asked, Engine


@dataclass(frozen=True, eq=False)
class Absence:
    """One of them."""

    seconds: float


def in_seconds(seconds: float, act: Callable[[], None]) -> None:
    """Have it done in a thread that Python's `threading` does not know, and does not wait for at the end."""

    def sleeps() -> None:
        time.sleep(seconds)
        act()

    _thread.start_new_thread(sleeps, ())


def returning_engine(
    engine: Engine, come_back: Callable[[], Engine], missed: Callable[[BaseException], object]
) -> Engine:
    """The engine's entry for one pass: what `come_back` gives runs it."""

    @hidden
    def returning(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as torch has it
        chosen = engine
        try:
            chosen = come_back()
        except BaseException as error:
            if not is_ours(error):
                raise
            missed(error)
        return chosen(tensors, *args, **named)

    return returning


def asked_in(trace: TracebackType | None, engine: Engine) -> Asked | None:
    """What was asked of the engine, by the traceback of an error that came out of its entry."""
    caller = None
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code is getattr(engine, "__code__", None) and caller is not None:
            tensors, args, named = map(frame.f_locals.__getitem__, frame.f_code.co_varnames[:3])
            return tensors, args, named, caller
        caller, trace = frame, trace.tb_next
    return None
