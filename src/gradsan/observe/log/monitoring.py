"""Records through `sys.monitoring` (Python 3.12 and later), for the user's code objects alone.

The start of every function is reported once. A library's is switched off there and then, which costs nothing
from then on; for a function of the user's, lines, exits and resumptions are switched on.
"""

import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

from gradsan.observe.guarding import is_ours
from gradsan.observe.log.frames import frames_out, token_of
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITES, Kind
from gradsan.observe.ownership import Ownership

# 0, 1, 2 and 5 are set aside for debuggers, coverage, profilers and optimizers: taking one would keep theirs out.
_TOOL_IDS = (4, 3)
_TOOL_NAME = "gradsan"

_monitoring: Any = getattr(sys, "monitoring", None)  # a type checker of 3.11 does not know it


class Monitoring:
    """Switched on by `start()`, and gone without a trace after `stop()`."""

    def __init__(self, pen: Pen, ownership: Ownership) -> None:
        self._pen = pen
        self._ownership = ownership
        self._tool: int | None = None
        self._codes: list[CodeType] = []

    def prepare(self) -> str | None:
        """Nothing to do: functions are taken in when they first run, or are found running."""

    def start(self) -> str | None:
        """Begin; answers with a sentence if that is impossible because others hold every free place."""
        monitoring = _monitoring
        for tool in _TOOL_IDS:
            if monitoring.get_tool(tool) is None:
                break
        else:
            holders = " and ".join(str(monitoring.get_tool(tool)) for tool in _TOOL_IDS)
            return f"lines are not recorded: every free tool id of sys.monitoring is held by others ({holders})"
        monitoring.use_tool_id(tool, _TOOL_NAME)
        self._tool = tool
        events = monitoring.events
        for event, callback in self._callbacks().items():
            monitoring.register_callback(tool, event, callback)
        # What an earlier holder of this tool id switched off stays off until this is called.
        monitoring.restart_events()
        # The interpreter has no per-code form of the last two.
        monitoring.set_events(tool, events.PY_START | events.PY_UNWIND | events.PY_THROW)
        for running in (sys._getframe(), *sys._current_frames().values()):  # noqa: SLF001 # documented
            for frame in frames_out(running):
                self._adopt(frame.f_code)
        return None

    def stop(self) -> None:
        """End, also from within a callback."""
        tool, self._tool = self._tool, None
        if tool is None:
            return
        monitoring = _monitoring
        monitoring.set_events(tool, 0)
        for code in self._codes:
            monitoring.set_local_events(tool, code, 0)
        for event in self._callbacks():
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        self._codes.clear()

    def adopt(self) -> None:
        """Nothing to do: functions are taken in when they first run."""

    def marked(self, code: CodeType) -> CodeType:
        """The code as it is: the interpreter needs no marks."""
        return code

    def _adopt(self, code: CodeType) -> bool:
        """Whether a code object is the user's; then its events are switched on."""
        if self._tool is None or not self._ownership.owns(code.co_filename) or self._pen.sites.add(code) is None:
            return False
        events = _monitoring.events
        wanted = events.LINE | events.PY_RETURN | events.PY_RESUME | events.PY_YIELD
        _monitoring.set_local_events(self._tool, code, wanted)
        self._codes.append(code)
        return True

    def _callbacks(self) -> dict[int, Callable[..., object]]:  # noqa: C901, PLR0915 # flat for speed
        """One function an event. They share no code: a further call would double the price of an event."""
        pen, here, room, op_counter = self._pen, self._pen.here, self._pen.room, self._pen.op_counter
        line_base, start_of, getframe = pen.sites.line_base, pen.sites.start_of, sys._getframe  # noqa: SLF001
        adopt, disable = self._adopt, _monitoring.DISABLE
        size, identity, this_thread = len, id, threading.get_ident  # the program may put others in their places
        left, asleep, awake = int(Kind.LEAVE), int(Kind.SUSPEND), int(Kind.RESUME)  # plain ints add faster

        def start(code: CodeType, _offset: int) -> object:
            try:
                begin = start_of.get(identity(code))
                if begin is None:
                    if not adopt(code):
                        return disable
                    begin = start_of[identity(code)]
                thread, words, _, _ = pen.open
                if thread != this_thread():
                    words = pen.switch()
                words.append(op_counter() * SITES + begin)
                if size(words) > room:
                    pen.turn(getframe(1))
            except BaseException as error:
                if not is_ours(error):
                    raise
                pen.fail(error)
            return None

        def line(code: CodeType, number: int) -> None:
            try:
                thread, words, known, base = pen.open
                if thread != this_thread():
                    words = pen.switch()
                if known is not code:
                    base = line_base[identity(code)]
                    pen.open = (this_thread(), words, code, base)
                words.append(op_counter() * SITES + (base + number))
                if size(words) > room:
                    pen.turn(getframe(1))
            except BaseException as error:
                if not is_ours(error):
                    raise
                pen.fail(error)

        def leave(code: CodeType, _offset: int, value: object) -> None:
            try:
                begin = start_of.get(identity(code))
                if begin is not None:
                    thread, words, _, _ = pen.open
                    if thread != this_thread():
                        words = pen.switch()
                    number = op_counter()
                    words.append(number * SITES + (begin + left))
                    if number > pen.due and not isinstance(value, BaseException):  # which goes through
                        pen.ring(getframe(1), number)
                    if size(words) > room:
                        pen.turn(getframe(1).f_back)
            except BaseException as error:
                if not is_ours(error):
                    raise
                pen.fail(error)

        def sleep(code: CodeType, _offset: int, _value: object) -> None:
            try:
                frame, words = getframe(1), pen.switch()
                here.tokens.append(token_of(frame))
                words.append(op_counter() * SITES + (start_of[identity(code)] + asleep))
                if size(words) > room:
                    pen.turn(frame.f_back)
            except BaseException as error:
                if not is_ours(error):
                    raise
                pen.fail(error)

        def wake(code: CodeType, _offset: int, _value: object = None) -> None:
            try:
                begin = start_of.get(identity(code))
                if begin is not None:
                    frame, words = getframe(1), pen.switch()
                    here.tokens.append(token_of(frame))
                    words.append(op_counter() * SITES + (begin + awake))
                    if size(words) > room:
                        pen.turn(frame)
            except BaseException as error:
                if not is_ours(error):
                    raise
                pen.fail(error)

        events = _monitoring.events
        return {
            events.PY_START: start,
            events.LINE: line,
            events.PY_RETURN: leave,
            events.PY_UNWIND: leave,
            events.PY_YIELD: sleep,
            events.PY_RESUME: wake,
            events.PY_THROW: wake,
        }
