"""The reader of programs, put together, and the programs that a file holds."""

import sys

from gradsan.check.calls import Calls
from gradsan.check.frames import Frame
from gradsan.check.graph import Code
from gradsan.check.source import Source
from gradsan.check.statements import Statements
from gradsan.check.values import Const


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


def allow_depth() -> None:
    """Expressions within expressions within calls: Python's own limit is meant for plainer programs."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))
