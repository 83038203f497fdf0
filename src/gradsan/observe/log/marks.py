"""The marks themselves: constants of marked code, each of which writes an event when it is subscripted.

A constant of one's own can be read by whoever writes code down, and gradsan need not be where it is loaded. To
`marshal` a mark is the bytes that it has, and to every pickler that takes code by value it says the same of itself.
A zero: subscripted as a mark is, it gives 0, and nothing happens. The interpreter calls a `__getitem__` of Python's as
fast as it calls a function.

The state is the module's, as the log is the process's. Where nothing records, a mark does nothing.
"""

import sys
import threading
from collections.abc import Callable
from types import CodeType

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


class Mark(bytearray):
    """Of one site. It is equal to itself alone, and so are codes that have it."""

    __slots__ = ("line", "site")
    __eq__, __repr__ = object.__eq__, object.__repr__
    __hash__ = object.__hash__  # type: ignore[assignment] # code is hashed by its constants

    def __init__(self, site: int, line: int = 0) -> None:
        super().__init__(1)
        self.site = site
        self.line = line  # a site that is reached at once, where there is one

    def __reduce_ex__(self, _: object) -> tuple[type[bytes], tuple[int]]:
        return bytes, (1,)


class Reached(Mark):
    """A line was reached, or a function entered."""

    __slots__ = ()

    def __getitem__(self, _zero: int) -> None:  # type: ignore[override] # nobody reads what is there
        if _pen is not None:
            try:
                thread, words, _, _ = _pen.open
                if thread != _this_thread():
                    words = _pen.switch()
                words.append(_op_counter() * SITES + self.site)
                if _len(words) > _room:
                    _pen.turn(_getframe(1))
            except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
                pass
            except BaseException as error:
                if not _is_ours(error):
                    raise
                _failed(error)


class Entered(Mark):
    """A function was entered, and its first line reached: two events at the price of one."""

    __slots__ = ()

    def __getitem__(self, _zero: int) -> None:  # type: ignore[override] # nobody reads what is there
        if _pen is not None:
            try:
                thread, words, _, _ = _pen.open
                if thread != _this_thread():
                    words = _pen.switch()
                number = _op_counter() * SITES
                words.append(number + self.site)
                words.append(number + self.line)
                if _len(words) > _room:
                    _pen.turn(_getframe(1))
            except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
                pass
            except BaseException as error:
                if not _is_ours(error):
                    raise
                _failed(error)


class Left(Mark):
    """A function returned, or an exception goes through."""

    __slots__ = ()

    def __getitem__(self, _zero: int) -> None:  # type: ignore[override] # nobody reads what is there
        if _pen is not None:
            try:
                thread, words, _, _ = _pen.open
                if thread != _this_thread():
                    words = _pen.switch()
                number = _op_counter()
                words.append(number * SITES + self.site)
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


class Slept(Mark):
    """A generator yields."""

    __slots__ = ()

    def __getitem__(self, _zero: int) -> None:  # type: ignore[override] # nobody reads what is there
        if _pen is not None:
            try:
                frame = _getframe(1)
                words = _pen.switch()
                _pen.here.tokens.append(token_of(frame))
                words.append(_op_counter() * SITES + self.site)
                if _len(words) > _room:
                    _pen.turn(frame.f_back)
            except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
                pass
            except BaseException as error:
                if not _is_ours(error):
                    raise
                _failed(error)


class Woken(Mark):
    """A generator goes on."""

    __slots__ = ()

    def __getitem__(self, _zero: int) -> None:  # type: ignore[override] # nobody reads what is there
        if _pen is not None:
            try:
                frame = _getframe(1)
                words = _pen.switch()
                _pen.here.tokens.append(token_of(frame))
                words.append(_op_counter() * SITES + self.site)
                if _len(words) > _room:
                    _pen.turn(frame)
            except RecursionError:  # a program near its limit is about to fail by itself, and no call fits in any more
                pass
            except BaseException as error:
                if not _is_ours(error):
                    raise
                _failed(error)


class Silenced(Mark):
    """Of a recording that is over: a call that slept meanwhile still has it, and the next one numbers sites again.

    What it gives is a byte, and no function of Python's is called for it.
    """

    __slots__ = ()


def silence(code: CodeType) -> None:
    """Let the marks of a code object do nothing any more, whatever records later."""
    for each in code.co_consts:
        if issubclass(type(each), Mark):
            each.__class__ = Silenced


def _failed(error: BaseException) -> None:
    pen = _pen
    if pen is not None:
        pen.fail(error)
