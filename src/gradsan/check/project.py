"""What all paths from one file know of the project around it: its files, and calls that are not worth following."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from gradsan.check.sifting import Sifting
from gradsan.check.values import Instance, Value
from gradsan.source.disk import load
from gradsan.source.file import Source


@dataclass(slots=True)
class Project:
    """The files that were read on some path, so that their nodes live as long as what is noted of them."""

    home: str = "?"  # the file that is checked
    sources: dict[str, Source | None] = field(default_factory=dict)
    sifting: Sifting = field(default_factory=Sifting)
    given_up: set[ast.AST] = field(default_factory=set)  # functions in which nothing of a graph happens

    def load(self, path: str) -> Source | None:
        """Another file; it is read once."""
        if path not in self.sources:
            self.sources[path] = load(path)
        return self.sources[path]

    def leads_to_pass(self, source: Source, given: Iterable[Value]) -> bool:
        """Whether a function of a file may ask for a pass: there, in what it imports, or through what it is given."""
        if self.sifting.leads_to_pass(source.path):
            return True
        sources = (each.cls.source for each in given if isinstance(each, Instance))
        return any(each is not None and self.sifting.leads_to_pass(each.path) for each in sources)
