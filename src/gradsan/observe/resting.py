"""Lets Python's garbage collector rest while an explanation is made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
