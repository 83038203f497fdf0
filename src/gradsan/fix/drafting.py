"""A change of a program in the making: nodes replaced, statements added, taken away and moved, in several files."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from gradsan.fix.editing import edits_between
from gradsan.fix.expressions import text
from gradsan.fix.tree import Statement, Tree
from gradsan.report import Edit
from gradsan.source.file import split_lines


@dataclass
class _Changes:
    replaced: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    before: dict[cst.CSTNode, list[cst.CSTNode]] = field(default_factory=dict)
    after: dict[cst.CSTNode, list[cst.CSTNode]] = field(default_factory=dict)

    def take_in(self, other: "_Changes") -> bool:
        """Make the other's changes too, each once; whether they agree with those that are here."""
        for node, new in other.replaced.items():
            if text(self.replaced.setdefault(node, new)) != text(new):
                return False
        added = [*self.before.values(), *self.after.values()]
        written = {text(each) for statements in added for each in statements}
        for ours, theirs in ((self.before, other.before), (self.after, other.after)):
            for node, statements in theirs.items():
                ours.setdefault(node, []).extend(each for each in statements if text(each) not in written)
        self.removed |= other.removed
        return not self.removed & self.replaced.keys()

    def is_flat(self, tree: Tree) -> bool:
        """Whether nothing is changed inside of what is changed as a whole."""
        whole = self.replaced.keys() | self.removed
        return not any(above in whole for node in (*self.replaced, *self.removed) for above in tree.above(node))


class Draft:
    """What is to be changed. Nothing is changed until the edits are applied."""

    def __init__(self) -> None:
        self.is_partial = False  # some of what is old is left as it is
        self._changes: dict[int, tuple[Tree, _Changes]] = {}

    def replace(self, tree: Tree, node: cst.CSTNode, new: cst.CSTNode) -> None:
        """Put another node in its place."""
        self._of(tree).replaced[node] = new

    def remove(self, tree: Tree, statement: Statement) -> None:
        """Take a statement away; a block that is left empty gets a `pass`."""
        self._of(tree).removed.add(statement)

    def insert_before(self, tree: Tree, statement: Statement, *new: str | Statement) -> None:
        """Add statements above one."""
        self._of(tree).before.setdefault(statement, []).extend(_parsed(tree, new))

    def insert_after(self, tree: Tree, statement: Statement, *new: str | Statement) -> None:
        """Add statements below one."""
        self._of(tree).after.setdefault(statement, []).extend(_parsed(tree, new))

    def insert_once(self, tree: Tree, statement: Statement, new: str) -> None:
        """Add a statement below one, unless the draft does so already."""
        (parsed,) = _parsed(tree, [new])
        below = self._of(tree).after.setdefault(statement, [])
        if not any(each.deep_equals(parsed) for each in below):
            below.append(parsed)

    def joined(self, other: "Draft") -> "Draft | None":
        """Both changes as one; None where they want different things of the same place."""
        both = Draft()
        both.is_partial = self.is_partial or other.is_partial
        for draft in (self, other):
            for tree, changes in draft._changes.values():  # noqa: SLF001 # of its own class
                if not both._of(tree).take_in(changes) or not both._of(tree).is_flat(tree):
                    return None
        return both

    def edits(self) -> tuple[Edit, ...]:
        """The change as edits of lines."""
        found: list[Edit] = []
        for tree, changes in self._changes.values():
            new = tree.module.visit(_Rewriter(changes))
            found += edits_between(tree.file, tree.lines, split_lines(new.code))
        return tuple(found)

    def _of(self, tree: Tree) -> _Changes:
        return self._changes.setdefault(id(tree), (tree, _Changes()))[1]


def _parsed(tree: Tree, new: Sequence[str | Statement]) -> list[cst.CSTNode]:
    config = tree.module.config_for_parsing
    return [cst.parse_statement(each, config) if isinstance(each, str) else each for each in new]


class _Rewriter(cst.CSTTransformer):
    def __init__(self, changes: _Changes) -> None:
        super().__init__()
        self._changes = changes

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        changes = self._changes
        new = changes.replaced.get(original_node, updated_node)
        before, after = changes.before.get(original_node, []), changes.after.get(original_node, [])
        if original_node in changes.removed:
            around = [*before, *after]
            return cst.FlattenSentinel(around) if around else cst.RemoveFromParent()  # type: ignore[arg-type]
        if isinstance(new, cst.IndentedBlock) and not new.body:
            new = new.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])
        if before:
            before, new = _below_the_comments(before, new)
        if before or after:
            return cst.FlattenSentinel([*before, new, *after])  # type: ignore[list-item] # statements all
        return new  # type: ignore[return-value] # what the kinds put there fits


def _below_the_comments(before: list[cst.CSTNode], statement: cst.CSTNode) -> tuple[list[cst.CSTNode], cst.CSTNode]:
    """What is added stands right above the statement; comments and blank lines stay above both."""
    lines = getattr(statement, "leading_lines", ())
    first = before[0]
    if not lines or not isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        return before, statement
    return [first.with_changes(leading_lines=lines), *before[1:]], statement.with_changes(leading_lines=())
