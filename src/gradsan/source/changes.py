"""What is to be changed in one file: nodes replaced, statements added, taken away and written again."""

import ast
from dataclasses import dataclass, field

from gradsan.source.file import expression
from gradsan.source.placing import Placed, placed
from gradsan.source.splices import NoPlaceError, Splice, spliced
from gradsan.source.tree import Statement, Tree, same


@dataclass
class Changes:
    """The changes of a file, by its nodes."""

    replaced: dict[ast.AST, str] = field(default_factory=dict)
    lines: dict[Statement, Placed] = field(default_factory=dict)
    splices: list[Splice] = field(default_factory=list)

    def at(self, statement: Statement) -> Placed:
        """What becomes of a statement's lines."""
        return self.lines.setdefault(statement, Placed())

    def take_in(self, other: "Changes") -> bool:
        """Make the other's changes too, each once; whether they agree with those that are here."""
        for node, new in other.replaced.items():
            if self.replaced.setdefault(node, new) != new:
                return False
        self.splices += [each for each in other.splices if each not in self.splices]
        return self._take_in_lines(other)

    def _take_in_lines(self, other: "Changes") -> bool:
        written = {code for each in self.lines.values() for code in (*each.before, *each.after)}
        for statement, theirs in other.lines.items():
            ours = self.at(statement)
            ours.before += [each for each in theirs.before if each not in written]
            ours.after += [each for each in theirs.after if each not in written]
            if ours.is_rewritten and theirs.is_rewritten and ours.instead != theirs.instead:
                return False
            ours.instead = theirs.instead if ours.instead is None else ours.instead
            ours.with_comments |= theirs.with_comments
        return not self.replaced.keys() & self.gone()

    def gone(self) -> set[Statement]:
        """The statements of which nothing is left."""
        return {statement for statement, each in self.lines.items() if each.is_rewritten}

    def is_flat(self, tree: Tree) -> bool:
        """Whether nothing is changed inside of what is changed as a whole."""
        whole: set[ast.AST] = {*self.replaced, *self.gone()}
        return not any(above in whole for node in whole for above in tree.above(node))

    def new_text(self, tree: Tree) -> str:
        """The file with all of them in it."""
        return spliced(tree.source.text, placed(tree, self.lines, [*self._inner(tree), *self.splices]))

    def new_part(self, tree: Tree, node: ast.AST) -> str:
        """The text of a node with all of those in it that are inside of it."""
        start, end = tree.whole(node)
        moved = [Splice(each.start - start, each.end - start, each.text) for each in self._inner(tree)]
        return spliced(tree.source.text[start:end], moved)

    def _inner(self, tree: Tree) -> list[Splice]:
        """The nodes that are replaced; those inside of others are gone with them."""
        outer = [each for each in self.replaced if not any(above in self.replaced for above in tree.above(each))]
        return [Splice(*_place(tree, node), _fitting(tree, node, self.replaced[node])) for node in outer]


def _place(tree: Tree, node: ast.AST) -> tuple[int, int]:
    start, end = tree.whole(node)
    # Before 3.12, `ast` does not always know where a part of an f-string is.
    if tree.is_in_string(node) and not same(node, expression(tree.source.text[start:end])):
        raise NoPlaceError("inside of a string")
    return start, end


def _fitting(tree: Tree, node: ast.AST, code: str) -> str:
    """The code, in brackets where what stands around it would bind closer."""
    around = [each for each in tree.above(node) if isinstance(each, ast.expr)]
    if not around or not isinstance(node, ast.expr) or tree.is_in_string(node):
        return code
    (start, end), (first, last) = tree.whole(node), tree.whole(around[-1])
    text = tree.source.text
    bare, safe = (expression(f"{text[first:start]}{new}{text[end:last]}") for new in (code, f"({code})"))
    return code if safe is None or (bare is not None and same(bare, safe)) else f"({code})"
