"""The concrete syntax tree of a file: which statement stands at a line, in which block, under which loops."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from gradsan.fix.condensing import Line
from gradsan.source.file import Source

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Scope = cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.Module
_LOOPS = (cst.For, cst.While)


class Tree:
    """A file's statements. Lines are those of the file, whatever was left out of the tree."""

    def __init__(self, file: str, source: Source, lines: Sequence[Line]) -> None:
        self.file = file
        self.source = source
        self.lines = lines
        wrapper = MetadataWrapper(cst.parse_module("".join(line.text for line in lines)), unsafe_skip_copy=True)
        self.module = wrapper.module
        resolved = wrapper.resolve_many([PositionProvider, ParentNodeProvider])
        self._spans: Mapping[cst.CSTNode, CodeRange] = resolved[PositionProvider]  # type: ignore[assignment] # untyped there
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = resolved[ParentNodeProvider]  # type: ignore[assignment]

    def line(self, node: cst.CSTNode) -> int:
        """The line of the file at which it begins."""
        return self.lines[self._spans[node].start.line - 1].first

    def end_line(self, node: cst.CSTNode) -> int:
        """The line of the file at which it ends."""
        return self.lines[self._spans[node].end.line - 1].last

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What it is a part of."""
        return self._parents.get(node)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """All that it is a part of, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All of them, outer before inner."""
        return tuple(
            each for each in self._spans if isinstance(each, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        )

    def statement_at(self, line: int) -> Statement | None:
        """The innermost statement that the line belongs to; the first of them where it is crowded."""
        return next(iter(self.statements_at(line)), None)

    def statements_at(self, line: int) -> list[Statement]:
        """The innermost statement that the line belongs to; more than one where the line is crowded."""
        found = [each for each in self.statements if self._first_line(each) <= line <= self.end_line(each)]
        begun = [each for each in found if self.line(each) == line]
        crowd = [each for each in begun if self.lines[self._spans[each].start.line - 1].is_piece]
        if len(crowd) > 1:
            return crowd
        return sorted(found, key=lambda each: (self.end_line(each) - self.line(each), -self.line(each)))[:1]

    def _first_line(self, statement: Statement) -> int:
        """Where it begins, its decorators included."""
        return min(self.line(each) for each in (statement, *getattr(statement, "decorators", ())))

    def block(self, statement: Statement) -> Sequence[Statement]:
        """The statements that stand beside it, itself included."""
        body = getattr(self.parent(statement), "body", ())
        return [each for each in body if isinstance(each, cst.SimpleStatementLine | cst.BaseCompoundStatement)]

    def scope(self, node: cst.CSTNode) -> Scope:
        """The function, class or file that it stands in."""
        return next((each for each in self.above(node) if isinstance(each, Scope)), self.module)

    def loops(self, node: cst.CSTNode) -> list[cst.For | cst.While]:
        """The loops of its own function around it, innermost first."""
        found = []
        below = node
        for each in self.above(node):
            if isinstance(each, Scope):
                break
            if isinstance(each, _LOOPS) and below is each.body:
                found.append(each)
            below = each
        return found

    def containing(self, node: cst.CSTNode) -> Statement:
        """The statement that a node is part of."""
        return next(each for each in (node, *self.above(node)) if isinstance(each, Statement))

    def within(self, statement: cst.CSTNode, outer: cst.CSTNode) -> bool:
        """Whether a statement stands inside another node."""
        return outer in self.above(statement)
