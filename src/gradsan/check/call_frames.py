"""A call under way: its names, where it was called from, and with which expressions."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradsan.check.graph import Code, Site
from gradsan.check.values import Function, Instance, Value
from gradsan.source.file import Source


@dataclass(slots=True, eq=False)
class Frame:
    """The names of one module or one call."""

    code: Code
    source: Source
    names: dict[str, Value] = field(default_factory=dict)
    pending: dict[str, tuple[ast.stmt, ...]] = field(default_factory=dict)  # what binds a name, once it is asked for
    stars: list[str] = field(default_factory=list)  # files of which all names were imported
    called: Site | None = None  # the call
    caller: "Frame | None" = None
    outer: "Frame | None" = None  # the function around this one
    given: dict[str, ast.expr] = field(default_factory=dict)  # the caller's expression for each argument
    function: Function | None = None
    receiver: Instance | None = None
    foreign: set[str] = field(default_factory=set)  # names declared `global` or `nonlocal`
    returned: Value | None = None
    yielded: list[Value] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)  # how many ops were created before each of them
    assumed: int = 0  # how many branches are taken on an assumption
    depth: int = 0

    @property
    def is_module(self) -> bool:
        """Whether these are the names of a file."""
        return self.outer is None and self.function is None

    def is_in_forward(self) -> bool:
        """Whether the forward of a module is under way."""
        receivers = (frame.receiver for frame in self.calls())
        return any(each is not None and each.running for each in receivers)

    def calls(self) -> Iterator["Frame"]:
        """This call, the one around it, and so on outwards."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def home_of(self, name: str) -> "Frame | None":
        """The frame in which a name is found, from here outwards."""
        frame = self.outer if name in self.foreign else self
        while frame is not None:
            if name in frame.names or name in frame.pending:
                return frame
            frame = frame.outer
        return None
