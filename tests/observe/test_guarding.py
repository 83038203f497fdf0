"""Whose an error is: the program's own gets through our frames, wherever it interrupts them; ours does not."""

import ast
import ctypes
import functools
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Never

import pytest

from gradsan.observe import guarding
from gradsan.observe.guarding import attempt, is_ours


class Timeout(Exception):  # noqa: N818 # as programs call theirs
    """Of the program's."""


def handler(_number: int, _frame: FrameType | None) -> Never:
    """As most are."""
    raise Timeout


def forgetful(_number: int, frame: FrameType | None) -> Never:
    """It no longer has the frame that it was given when it raises."""
    frame = None
    raise TimeoutError(frame)


def once(_number: int, _frame: FrameType | None) -> Never:
    """It is no handler any more when it raises, and its error is one that ours may be too."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    raise MemoryError


class Handler:
    """Handlers that are no functions."""

    def __call__(self, *_: object) -> Never:
        """The object itself."""
        raise ValueError

    def method(self, number: int, frame: FrameType | None) -> Never:
        """It raises further down."""
        handler(number, frame)


HANDLERS: dict[str, Callable[[int, FrameType | None], Any]] = {
    "function": handler,
    "forgetful": forgetful,
    "once": once,
    "object": Handler(),
    "method": Handler().method,
    "partial": functools.partial(handler),
    "Ctrl-C": signal.default_int_handler,
}


def counts() -> None:
    """No call at all."""
    number = 0
    while True:
        number += 1


def calls() -> None:
    """Of the standard library, in Python and in C."""
    while True:
        ast.walk(ast.parse("a = 1"))


def sleeps() -> None:
    """In C."""
    time.sleep(30)


WORK = {"counts": counts, "calls": calls, "sleeps": sleeps}


def is_caught(act: Callable[[], None]) -> bool:
    """Whether a guard around it would keep what comes out of it."""
    try:
        act()
    except BaseException as error:  # noqa: BLE001 # whatever it is
        return is_ours(error)
    raise AssertionError


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("name", HANDLERS)
def test_what_a_handler_of_a_signal_raises_is_the_programs(name: str, work: str) -> None:
    """Recognised by where it was raised: not by its class, which may be any."""
    before = signal.signal(signal.SIGALRM, HANDLERS[name])
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        caught = is_caught(WORK[work])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert not caught


@pytest.mark.parametrize("kind", [Timeout, SystemExit, KeyboardInterrupt])
def test_what_another_thread_throws_is_the_programs(kind: type[BaseException]) -> None:
    """Nobody raises it: it is just there."""
    here = ctypes.c_ulong(threading.get_ident())
    thrown = threading.Timer(0.3, ctypes.pythonapi.PyThreadState_SetAsyncExc, (here, ctypes.py_object(kind)))
    thrown.start()

    caught = is_caught(counts)

    thrown.join()
    assert not caught


def test_what_a_trace_function_raises_is_the_programs() -> None:
    """A debugger ends the program that way."""

    def trace(frame: FrameType, _event: str, _given: object) -> None:
        if frame.f_code is counts.__code__:
            raise Timeout

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        caught = is_caught(counts)
    finally:
        sys.settrace(before)

    assert not caught


def interrupts() -> None:
    """By its own code."""
    raise KeyboardInterrupt


def recurses() -> None:
    """Until it may not."""
    recurses()


class Unequal:
    """An object of the program's that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise Timeout

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "act",
    [interrupts, recurses, lambda: "".index("x"), lambda: Unequal() == 1, lambda: int("x"), lambda: ast.parse("(")],
    ids=["raised", "too deep", "not there", "the user's code, called by ours", "by C", "by the library"],
)
def test_what_our_own_work_raises_is_ours(act: Callable[[], object]) -> None:
    """Whatever it is, and in whose code: gradsan has called it."""
    reported: list[BaseException] = []

    assert attempt(act, reported.append) is None

    assert len(reported) == 1


def test_function_of_ours_that_is_given_a_frame_is_no_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails in it is ours; the same function would be a handler, were it the program's."""

    def reading(running: FrameType) -> None:
        raise MemoryError(running.f_lineno)

    failed: list[BaseException] = []
    with pytest.raises(MemoryError):
        attempt(lambda: reading(sys._getframe()), failed.append)  # noqa: SLF001 # as tools do it
    monkeypatch.setattr(guarding, "_HOUSE", __file__)

    attempt(lambda: reading(sys._getframe()), failed.append)  # noqa: SLF001 # as above

    assert [type(each) for each in failed] == [MemoryError]
