"""Functions that stand between the program's frames, and show in none of the places where frames do."""

import inspect
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from gradsan.observe.guarding import is_ours
from gradsan.observe.hidden_frames import hidden


@hidden
def between(call: Callable[[], Any]) -> Any:  # noqa: ANN401 # whatever is returned
    """As the wrapper of the engine: it calls, and looks at what comes out."""
    try:
        result = call()
    except ZeroDivisionError as error:
        error.add_note("seen")
        raise
    return result


@hidden
def guarding(call: Callable[[], Any]) -> bool | None:
    """As every guard: whose is what was raised?"""
    try:
        call()
    except BaseException as error:  # noqa: BLE001 # as guards do
        return is_ours(error)
    return None


def test_frame_is_not_among_those_of_the_stack() -> None:
    """Neither for whoever walks them, nor for whoever counts them."""

    def look() -> tuple[list[str], str]:
        return [each.function for each in inspect.stack()[:2]], sys._getframe(1).f_code.co_name  # noqa: SLF001

    here = test_frame_is_not_among_those_of_the_stack.__name__
    assert between(look) == (["look", here], here)


def test_frame_is_not_in_a_traceback() -> None:
    """Also where the exception was caught and raised again."""
    with pytest.raises(ZeroDivisionError) as raised:
        between(lambda: 1 // 0)

    assert [each.name for each in traceback.extract_tb(raised.tb)][1:] == ["<lambda>"]


def test_profilers_hear_of_as_many_calls_as_returns() -> None:
    """They keep a list of the calls that have not returned."""
    heard: list[str] = []

    def profile(_frame: FrameType, event: str, _given: object) -> None:
        heard.append(event)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        between(list)
    finally:
        sys.setprofile(before)

    assert heard.count("call") == heard.count("return")


def test_what_a_signal_brings_is_the_programs() -> None:
    """A traceback has no entry for the frame in which it came."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGUSR1, handle), signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert guarding(partial(signal.raise_signal, signal.SIGUSR1)) is False
        assert guarding(partial(signal.raise_signal, signal.SIGINT)) is False
    finally:
        signal.signal(signal.SIGUSR1, before[0])
        signal.signal(signal.SIGINT, before[1])


def test_what_fails_in_such_a_function_is_ours() -> None:
    """As in every other."""
    assert guarding(partial(int, "none")) is True
