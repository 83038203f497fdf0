"""The machine with all its handlers: whoever follows programs takes it from here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradsan.check import attributes, binding, calls, loops, parts, statements
from gradsan.check.call_frames import Frame
from gradsan.check.graph import Code
from gradsan.check.machine import Machine
from gradsan.check.values import Const
from gradsan.source.file import Source

HANDLERS = (attributes, binding, calls, loops, parts, statements)  # with those that they load, they fill all tables


def run_main(machine: Machine, source: Source) -> None:
    """Follow the top level of a file, as a program."""
    frame = Frame(Code(source.path, "<module>"), source)
    frame.names["__name__"] = Const(value="__main__")
    frame.names["__file__"] = Const(value=source.path)
    machine.modules[source.path] = frame
    machine.closed = True
    with machine.within(frame):
        machine.execute(source.tree.body)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Expressions within expressions within calls: Python's own limit is meant for plainer programs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 12_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)  # it may be the process of a program that runs
