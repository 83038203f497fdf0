"""All handlers of the machine, and room for programs that are nested deeply."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradsan.check import (
    attributes,
    binding,
    calls,
    checkpoint_calls,
    container_calls,
    items,
    library_calls,
    loops,
    object_calls,
    parts,
    statements,
    unknown_calls,
)

# With those that they load, they fill all tables.
HANDLERS = (
    attributes,
    binding,
    calls,
    checkpoint_calls,
    container_calls,
    items,
    library_calls,
    loops,
    object_calls,
    parts,
    statements,
    unknown_calls,
)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Expressions within expressions within calls: Python's own limit is meant for plainer programs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 12_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)  # it may be the process of a program that runs
