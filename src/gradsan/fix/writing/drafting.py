"""A change of a program in the making: nodes replaced, statements added, taken away and moved, in several files."""

import ast
from collections.abc import Iterable
from contextlib import suppress

from gradsan.fix.writing.editing import edits_to
from gradsan.report import Edit
from gradsan.source.changes import Changes
from gradsan.source.file import split_lines
from gradsan.source.placing import indentation, line_end
from gradsan.source.splices import NoPlaceError, OverlappingSplicesError, Splice
from gradsan.source.tree import Function, Statement, Tree


class Draft:
    """What is to be changed. Nothing is changed until the edits are applied."""

    def __init__(self) -> None:
        self.treats_all = False  # whatever else is old comes of what it changes
        self.is_partial = False  # some of what is old is left as it is
        self._changes: dict[int, tuple[Tree, Changes]] = {}

    def replace(self, tree: Tree, node: ast.AST, code: str) -> None:
        """Put another expression, or another statement without a block, in the place of one."""
        self._of(tree).replaced[node] = code

    def rewrite(self, tree: Tree, statement: Statement, *new: str) -> None:
        """Put other statements in the place of one and its block; comments above it stay."""
        self._of(tree).at(statement).instead = list(new)

    def remove(self, tree: Tree, statement: Statement) -> None:
        """Take a statement away, with what is said above it; a block that is left empty gets a `pass`."""
        change = self._of(tree).at(statement)
        change.instead, change.with_comments = [], True

    def insert_before(self, tree: Tree, statement: Statement, *new: str) -> None:
        """Add statements above one."""
        self._of(tree).at(statement).before += new

    def insert_after(self, tree: Tree, statement: Statement, *new: str) -> None:
        """Add statements below one."""
        self._of(tree).at(statement).after += new

    def insert_once(self, tree: Tree, statement: Statement, new: str) -> None:
        """Add a statement below one, unless the draft does so already."""
        below = self._of(tree).at(statement).after
        if new not in below:
            below.append(new)

    def decorate(self, tree: Tree, function: Function, code: str) -> None:
        """Add a decorator right above a function."""
        start = tree.span(function)[0]
        self.splice(tree, Splice(start, start, f"@{code}{line_end(tree)}{indentation(tree, function)}"))

    def undecorate(self, tree: Tree, function: Function, decorator: ast.expr) -> None:
        """Take a decorator away, with its line."""
        after = [tree.span(each)[0] for each in function.decorator_list[function.decorator_list.index(decorator) + 1 :]]
        first = tree.source.text.rindex("@", 0, tree.span(decorator)[0])
        last = tree.source.text.rindex("@", 0, after[0]) if after else tree.span(function)[0]
        self.splice(tree, Splice(first, last, ""))

    def splice(self, tree: Tree, splice: Splice) -> None:
        """Change some characters."""
        self._of(tree).splices.append(splice)

    def joined(self, other: "Draft") -> "Draft | None":
        """Both changes as one; None where they want different things of the same place."""
        both = Draft()
        both.is_partial = self.is_partial or other.is_partial
        for draft in (self, other):
            for tree, changes in draft._changes.values():  # noqa: SLF001 # of its own class
                if not both._of(tree).take_in(changes) or not both._of(tree).is_flat(tree):
                    return None
        return both

    def with_one_of_each(self, choices: Iterable[Iterable["Draft"]]) -> "Draft | None":
        """Together with the first change of each choice that goes with the rest; None where one has no such change."""
        whole = self
        for alike in choices:
            both = next(filter(None, map(whole.joined, alike)), None)
            if both is None:
                return None
            whole = both
        return whole

    def edits(self) -> tuple[Edit, ...]:
        """The change as edits of lines; none where there is no place for it."""
        found: list[Edit] = []
        with suppress(NoPlaceError, OverlappingSplicesError):
            for tree, changes in self._changes.values():
                found += edits_to(tree.file, tree.source, split_lines(changes.new_text(tree)))
            return tuple(found)
        return ()

    def _of(self, tree: Tree) -> Changes:
        return self._changes.setdefault(id(tree), (tree, Changes()))[1]
