"""The reader of programs, put together, and the programs that a file holds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradsan.check.calls import Calls
from gradsan.check.frames import Frame
from gradsan.check.graph import Code
from gradsan.check.statements import Statements
from gradsan.check.values import Const
from gradsan.source.file import Source


class Interpreter(Calls, Statements):
    """Follows one path through a program."""

    def run_main(self, source: Source) -> Frame:
        """Follow the top level of a file, as a program."""
        frame = Frame(Code(source.path, "<module>"), source)
        frame.names["__name__"] = Const(value="__main__")
        frame.names["__file__"] = Const(value=source.path)
        self.modules[source.path] = frame
        with self.within(frame):
            self.execute(source.tree.body)
        return frame


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Expressions within expressions within calls: Python's own limit is meant for plainer programs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 12_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)  # it may be the process of a program that runs
