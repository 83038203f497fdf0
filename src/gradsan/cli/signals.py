"""Signals that end a command: what it has begun is tidied up first, and then the signal does its work."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class EndedBySignal(BaseException):  # no error: like KeyboardInterrupt, nobody is to catch it in passing
    """A signal has asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within the block the first signal raises, so that everything is put in order; at its end the process dies of it.

    Whoever waits sees the status that the signal gives, in a shell 128 and its number. More signals are not heard
    while things are put in order. A signal that was ignored before, as under `nohup`, stays so.
    """
    before = {each: signal.getsignal(each) for each in _ENDING}
    heard = [each for each, handler in before.items() if handler is not signal.SIG_IGN]
    for each in heard:
        signal.signal(each, _raise)
    try:
        yield
    except EndedBySignal as ended:
        _die_of(ended.number)
    finally:
        for each in heard:
            signal.signal(each, before[each])


def _raise(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise EndedBySignal(number)


def _die_of(number: int) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    raise SystemExit(128 + number)
