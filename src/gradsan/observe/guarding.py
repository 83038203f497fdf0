"""Whose an error is: gradsan's own, which must not reach the program, or the program's, which nobody else may catch.

Every guard of `observe/` catches everything, asks `is_ours`, and raises again what is not:

    except BaseException as error:
        if not is_ours(error):
            raise
        fail(error)
"""

import opcode
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import TypeVar

from gradsan.errors import GradsanError

T = TypeVar("T")

_HOUSE = str(Path(__file__).parent.parent)  # where all that is ours stands

# At these the interpreter does nothing that can fail, except that it attends to signals and to other threads.
_ATTENDING = frozenset({"RESUME", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_RAISING = frozenset({"RAISE_VARARGS", "RERAISE"})
# Whose exceptions gradsan's own work can meet. A class from elsewhere was thrown into it by the program.
_AT_WORK = sys.stdlib_module_names | {"builtins", "gradsan", "torch", "numpy", "msgspec", "click", "rich"}


def is_ours(error: BaseException) -> bool:
    """Whether an error that was caught around our own work came from it, told by where it was raised.

    What is called by our code and fails is ours, whatever it is. The program gets in between in two ways only. The
    interpreter calls a function of the program's between two instructions of ours (a signal's handler, a trace or
    profile function), and hands it the frame that it interrupts. Or it raises without any call: Ctrl-C, and what
    another thread throws.
    """
    trace, inner = error.__traceback__, None
    while trace is not None:
        if _interrupts(trace.tb_frame, inner and inner.tb_frame):
            return False
        inner, trace = trace, trace.tb_next
    return not _came_between(error, inner)


def attempt(act: Callable[[], T], fail: Callable[[BaseException], object]) -> T | None:
    """What `act` returns; None where it fails by itself, which `fail` is told."""
    try:
        return act()
    except BaseException as error:
        if not is_ours(error):
            raise
        fail(error)
        return None


def say(line: str) -> None:
    """To whoever runs the program, apart from what the program prints."""
    if sys.stderr is not None:  # a program without a console has none
        sys.stderr.write(f"gradsan: {line}\n")


def shown(error: BaseException) -> str:
    """An error in one line; one that is meant for the user says by itself what is wrong."""
    try:
        if isinstance(error, GradsanError):
            return " ".join(str(error).split())
        return " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:  # noqa: BLE001 # an error that cannot even be shown
        return type(error).__name__


def _interrupts(frame: FrameType, below: FrameType | None) -> bool:
    """Whether the interpreter called this frame's function, which is none of ours, while `below` was at work.

    Of an import's frames a traceback may lack some, `f_back` has them all; hidden frames are in neither.
    """
    code = frame.f_code
    if code.co_filename.startswith(_HOUSE):
        return False
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += sum(bool(code.co_flags & each) for each in (CO_VARARGS, CO_VARKEYWORDS))
    given = [frame.f_locals.get(name) for name in code.co_varnames[:arguments]]
    packed = [item for each in given if type(each) is tuple for item in each]
    callers = [each for each in (below, frame.f_back) if each is not None]
    is_given = any(each is caller for each in (*given, *packed) for caller in callers)
    return is_given or any(each is code for each in _handlers())


def _handlers() -> Iterator[CodeType]:
    """The code of the program's own handlers of signals."""
    for number in signal.valid_signals():
        handler: object = signal.getsignal(number)
        while type(handler) is partial:
            handler = handler.func
        if isinstance(handler, FunctionType | MethodType):
            yield handler.__code__


def _came_between(error: BaseException, inner: TracebackType | None) -> bool:
    """Whether an error was raised without a call, at an instruction that did not fail. None: in a hidden frame."""
    name = "" if inner is None else opcode.opname[inner.tb_frame.f_code.co_code[inner.tb_lasti]]
    if name in _ATTENDING:
        return True
    if name in _RAISING:
        return False
    is_foreign = str(type(error).__module__).partition(".")[0] not in _AT_WORK
    return is_foreign or isinstance(error, KeyboardInterrupt | SystemExit)
