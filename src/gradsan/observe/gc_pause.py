"""Lets the garbage collector, and whatever the program has put around every call, rest while gradsan is at work."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """None of what an explanation makes is garbage, and there may be a million objects of it to look through.

    Nor are the user's finalizers to run in the middle of it. Collected is again afterwards, if it was before.
    """
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


@contextmanager
def observers_at_rest() -> Iterator[None]:
    """The program's own trace and profile functions are not called for our calls and lines; then they are as before.

    They are the program's code: its time, its output, and its lines in the log that is being read. Those that are
    written in C (coverage, cProfile) are left alone: Python could not put them back as they were, and they are quick.
    """
    trace, profile = sys.gettrace(), sys.getprofile()
    if _is_python(profile):
        sys.setprofile(None)
    if _is_python(trace):
        sys.settrace(None)
    try:
        yield
    finally:
        if _is_python(trace):
            sys.settrace(trace)
        if _is_python(profile):
            sys.setprofile(profile)


def _is_python(function: object) -> bool:
    """Whether it is a function of Python's, or an object that is called by one."""
    called = (vars(each).get("__call__") for each in type(function).__mro__)
    return isinstance(function, FunctionType | MethodType) or any(isinstance(each, FunctionType) for each in called)
