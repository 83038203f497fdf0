"""A change of a program in the making: nodes replaced, statements added, taken away and moved, in several files."""

import ast
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from gradsan.fix.writing.editing import edits_to
from gradsan.report import Edit
from gradsan.source.changes import Changes
from gradsan.source.file import split_lines
from gradsan.source.placing import code_of, indentation, line_end
from gradsan.source.splices import NoPlaceError, OverlappingSplicesError, Splice
from gradsan.source.tree import Function, Statement, Tree

Node = TypeVar("Node", bound=ast.AST)


class Draft:
    """What is to be changed. Nothing is changed until the edits are applied."""

    def __init__(self) -> None:
        self.treats_all = False  # whatever else is old comes of what it changes
        self.is_partial = False  # some of what is old is left as it is
        self._changes: dict[int, tuple[Tree, Changes]] = {}

    def replace(self, tree: Tree, node: ast.AST, code: str) -> "Draft":
        """Put another expression, or another statement without a block, in the place of one."""
        return self.replace_each(tree, {node: code})

    def replace_each(self, tree: Tree, codes: Mapping[Node, str]) -> "Draft":
        """The same, for several."""
        for node, code in codes.items():
            self._of(tree).replaced[node] = code
        return self

    def rewrite(self, tree: Tree, statement: Statement, *new: str) -> "Draft":
        """Put other statements in the place of one and its block; comments above it stay."""
        self._of(tree).at(statement).instead = list(new)
        return self

    def remove(self, tree: Tree, *statements: Statement) -> "Draft":
        """Take statements away, with what is said above each; a block that is left empty gets a `pass`."""
        for each in statements:
            change = self._of(tree).at(each)
            change.instead, change.with_comments = [], True
        return self

    def insert_before(self, tree: Tree, statement: Statement, *new: str) -> "Draft":
        """Add statements above one."""
        if new:
            self._of(tree).at(statement).before += new
        return self

    def insert_after(self, tree: Tree, statement: Statement, *new: str) -> "Draft":
        """Add statements below one."""
        if new:
            self._of(tree).at(statement).after += new
        return self

    def insert_once(self, tree: Tree, statement: Statement, new: str) -> "Draft":
        """Add a statement below one, unless the draft does so already."""
        return self if new in self._of(tree).at(statement).after else self.insert_after(tree, statement, new)

    def move_below(self, tree: Tree, last: Statement, *moved: Statement, blanks: bool = False) -> "Draft":
        """Take statements away, and put them below another one."""
        codes = [code_of(tree, each, blanks=blanks) for each in moved]
        return self.remove(tree, *moved).insert_after(tree, last, *codes)

    def move_above(self, tree: Tree, first: Statement, *moved: Statement) -> "Draft":
        """Take statements away, and put them above another one."""
        return self.remove(tree, *moved).insert_before(tree, first, *(code_of(tree, each) for each in moved))

    def decorate(self, tree: Tree, function: Function, code: str) -> "Draft":
        """Add a decorator right above a function."""
        start = tree.span(function)[0]
        return self.splice(tree, Splice(start, start, f"@{code}{line_end(tree)}{indentation(tree, function)}"))

    def undecorate(self, tree: Tree, function: Function, decorator: ast.expr) -> "Draft":
        """Take a decorator away, with its line."""
        after = [tree.span(each)[0] for each in function.decorator_list[function.decorator_list.index(decorator) + 1 :]]
        first = tree.source.text.rindex("@", 0, tree.span(decorator)[0])
        last = tree.source.text.rindex("@", 0, after[0]) if after else tree.span(function)[0]
        return self.splice(tree, Splice(first, last, ""))

    def splice(self, tree: Tree, splice: Splice) -> "Draft":
        """Change some characters."""
        self._of(tree).splices.append(splice)
        return self

    def __bool__(self) -> bool:
        """Whether anything is to be changed."""
        return any(each.replaced or each.lines or each.splices for _, each in self._changes.values())

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
