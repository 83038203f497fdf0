"""The reader of programs, put together, and the programs that a file holds."""

import ast
import sys

from gradsan.check.calls import Calls
from gradsan.check.frames import Frame
from gradsan.check.graph import Code
from gradsan.check.source import Source, load
from gradsan.check.statements import Statements
from gradsan.check.values import Const

_MOST_MODULES = 40  # files that one program may draw in


class Interpreter(Calls, Statements):
    """Follows one path through a program."""

    def run_module(self, source: Source, *, as_main: bool) -> Frame:
        """Follow the top level of a file."""
        frame = Frame(Code(source.path, "<module>"), source)
        frame.names["__name__"] = Const(value="__main__" if as_main else source.path)
        frame.names["__file__"] = Const(value=source.path)
        self.modules[source.path] = frame
        with self.within(frame):
            self.execute(source.tree.body)
        return frame

    def import_file(self, path: str) -> Frame | None:
        """The names of another file of the user's; it is followed once, when it is first asked for."""
        if path in self.modules:
            return self.modules[path]
        source = load(path) if len(self.modules) < _MOST_MODULES else None
        if source is None:
            return None
        before = self.world.moment, self.world.recording
        self.world.moment, self.world.recording = (), True
        try:
            return self.run_module(source, as_main=False)
        finally:
            self.world.moment, self.world.recording = before


def allow_depth() -> None:
    """Expressions within expressions within calls: Python's own limit is meant for plainer programs."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))


__all__ = ["Interpreter", "allow_depth", "ast"]
