"""The variables of live functions, read without keeping alive what they hold."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

_UNHELD = 3  # references to a snapshot that nobody else holds: the frame's, a local, and the count's own


@contextmanager
def variables_of(frames: Iterable[FrameType]) -> Iterator[list[Mapping[str, Any]]]:
    """Those of each frame, to be read within the block.

    Before Python 3.13, asking leaves a snapshot on the frame of a function that keeps its variables alive: it is
    cleared, unless the program holds it too, as its own `locals()`.
    """
    found: list[Mapping[str, Any]] = []
    snapshots: list[dict[str, Any]] = []
    try:
        for frame in frames:
            variables = frame.f_locals
            is_snapshot = frame.f_code.co_flags & CO_OPTIMIZED and type(variables) is dict
            if is_snapshot and sys.getrefcount(variables) <= _UNHELD:
                snapshots.append(variables)
            found.append(variables)
        yield found
    finally:
        for each in snapshots:
            each.clear()
