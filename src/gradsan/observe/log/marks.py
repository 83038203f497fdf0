"""What marked code calls: functions of a module, so that code which is pickled by value finds them by name.

The state is the module's, as the log is the process's. Where nothing records, a mark does nothing.
"""

import sys
import threading
from collections.abc import Callable

from gradsan.observe.guarding import is_ours as _is_ours
from gradsan.observe.log.frames import token_of
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITES

_pen: Pen | None = None
_room = 0
_op_counter: Callable[[], int]
_getframe = sys._getframe  # noqa: SLF001 # the documented way to a frame
_this_thread = threading.get_ident
_len = len  # the program may put another in its place


def connect(pen: Pen) -> None:
    """From now on marks are written by `pen`."""
    global _pen, _room, _op_counter  # noqa: PLW0603 # a module's global is the cheapest way to a value
    _room, _op_counter = pen.room, pen.op_counter
    _pen = pen


def disconnect() -> None:
    """From now on marks do nothing."""
    global _pen  # noqa: PLW0603 # as above
    _pen = None


def mark(site: int) -> None:
    """A line was reached, or a function entered."""
    if _pen is not None:
        try:
            thread, words, _, _ = _pen.open
            if thread != _this_thread():
                words = _pen.switch()
            words.append(_op_counter() * SITES + site)
            if _len(words) > _room:
                _pen.turn(_getframe(1))
        except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
            pass
        except BaseException as error:
            if not _is_ours(error):
                raise
            _failed(error)


def leave(site: int) -> None:
    """A function returned, or an exception goes through."""
    if _pen is not None:
        try:
            thread, words, _, _ = _pen.open
            if thread != _this_thread():
                words = _pen.switch()
            number = _op_counter()
            words.append(number * SITES + site)
            if number > _pen.due:
                _pen.ring(_getframe(1), number)
            if _len(words) > _room:
                _pen.turn(_getframe(1).f_back)
        except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
            pass
        except BaseException as error:
            if not _is_ours(error):
                raise
            _failed(error)


def sleep(site: int) -> None:
    """A generator yields."""
    if _pen is not None:
        try:
            frame = _getframe(1)
            words = _pen.switch()
            _pen.here.tokens.append(token_of(frame))
            words.append(_op_counter() * SITES + site)
            if _len(words) > _room:
                _pen.turn(frame.f_back)
        except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
            pass
        except BaseException as error:
            if not _is_ours(error):
                raise
            _failed(error)


def wake(site: int) -> None:
    """A generator goes on."""
    if _pen is not None:
        try:
            frame = _getframe(1)
            words = _pen.switch()
            _pen.here.tokens.append(token_of(frame))
            words.append(_op_counter() * SITES + site)
            if _len(words) > _room:
                _pen.turn(frame)
        except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
            pass
        except BaseException as error:
            if not _is_ours(error):
                raise
            _failed(error)


def _failed(error: BaseException) -> None:
    pen = _pen
    if pen is not None:
        pen.fail(error)
