"""A file's statements on its syntax tree: which one stands at a line, in which block, scope and loops, and its text."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from gradsan.source.file import Source, expression
from gradsan.source.file_statements import inner_statements

Statement = ast.stmt
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
For = ast.For | ast.AsyncFor
With = ast.With | ast.AsyncWith
Loop = ast.For | ast.AsyncFor | ast.While
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
STRINGS_OF_PARTS = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))  # t-strings: from 3.14 on
Span = tuple[int, int]  # in characters of the file's text

_COMPOUND = (*Function.__args__, *With.__args__, *Loop.__args__, ast.ClassDef, ast.If, ast.Match, ast.Try, ast.TryStar)
_BLOCKS = ("body", "orelse", "finalbody")
_COMMENT = re.compile(r"#[^\r\n]*")
_OPENING = re.compile(r"(?:\(\s*)+$")
_CLOSING = re.compile(r"(?:\s*\))+")


def first_line(statement: Statement) -> int:
    """Where it begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def is_simple(statement: ast.AST) -> bool:
    """Whether it has no block of its own."""
    return isinstance(statement, ast.stmt) and not isinstance(statement, _COMPOUND)


class Tree:
    """The statements of a file, and where each node stands in it."""

    def __init__(self, file: str, source: Source) -> None:
        self.file = file
        self.source = source
        self.module = source.tree

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.module) for child in ast.iter_child_nodes(node)}

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each line begins; the end of the text is the last."""
        found = [0]
        for line in self.source.lines:
            found.append(found[-1] + len(line))
        return tuple(found)

    def line(self, node: ast.AST) -> int:
        """The line at which it begins."""
        return int(getattr(node, "lineno", 1))

    def end_line(self, node: ast.AST) -> int:
        """The line at which it ends."""
        return int(getattr(node, "end_lineno", None) or len(self.source.lines))

    def offset(self, line: int, column: int) -> int:
        """Where a place of the tree is in the text: `ast` counts columns in UTF-8 bytes."""
        text = self.source.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def span(self, node: ast.AST) -> Span:
        """Where its own text lies, without brackets and decorators."""
        place: ast.expr = node  # type: ignore[assignment] # whatever has a place
        end = self.offset(place.end_lineno or 1, place.end_col_offset or 0)
        return self.offset(place.lineno, place.col_offset), end

    def whole(self, node: ast.AST) -> Span:
        """The same, with the brackets that stand around an expression."""
        start, end = self.span(node)
        around = next((each for each in self.above(node) if hasattr(each, "lineno")), None)
        if around is None or not isinstance(node, ast.expr) or self.is_in_string(node):
            return start, end
        before, after = self._beside(node, around)
        opened, closed = _brackets(_OPENING.search(before)), _brackets(_CLOSING.match(after))
        is_first = node in _given(around)[:1]
        own = min(len(opened) - is_first, len(closed))  # one bracket belongs to the call
        return (start - len(before) + opened[-own], end + closed[own - 1] + 1) if own > 0 else (start, end)

    def _beside(self, node: ast.expr, around: ast.AST) -> tuple[str, str]:
        """The text on both sides of a node that no other part of what it stands in has, without comments."""
        start, end = self.span(node)
        first, last = self.span(around)
        is_given = isinstance(around, ast.Call) and node is not around.func
        others = [self.span(each) for each in _placed(around) if each is not node]
        above = max((each for _, each in others if first <= each <= start), default=min(first, start))
        below = min((each for each, _ in others if end <= each <= last), default=max(last - is_given, end))
        texts = self.source.text[above:start], self.source.text[end:below]
        return _COMMENT.sub(_blank, texts[0]), _COMMENT.sub(_blank, texts[1])

    def is_in_string(self, node: ast.AST) -> bool:
        """Whether it stands in an f-string, or in a t-string."""
        return any(isinstance(each, STRINGS_OF_PARTS) for each in self.above(node))

    def text(self, node: ast.AST) -> str:
        """As it is written, with the brackets around it."""
        start, end = self.whole(node)
        return self.source.text[start:end]

    def is_bracketed(self, node: ast.AST) -> bool:
        """Whether brackets stand around it."""
        return self.whole(node) != self.span(node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What it is a part of."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that it is a part of, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All of them, outer before inner, in the order of the file."""
        return tuple(_statements(self.module))

    def statement_at(self, line: int) -> Statement | None:
        """The innermost statement that the line belongs to; the first of them where it is crowded."""
        return next(iter(self.statements_at(line)), None)

    def statements_at(self, line: int) -> list[Statement]:
        """The innermost statement that the line belongs to; more than one where the line is crowded."""
        found = list(_around(line, self.module))
        crowd = [each for each in found if self.line(each) == line]
        if len(crowd) > 1 and is_simple(crowd[-1]):
            return crowd
        return sorted(found, key=lambda each: (self.end_line(each) - self.line(each), -self.line(each)))[:1]

    def block(self, statement: Statement) -> Sequence[Statement]:
        """The statements that stand beside it, itself included."""
        parent = self.parent(statement)
        blocks = (getattr(parent, name, None) for name in _BLOCKS)
        return next((each for each in blocks if isinstance(each, list) and statement in each), [statement])

    def below(self, statement: Statement) -> Sequence[Statement]:
        """Those of them that follow it."""
        block = self.block(statement)
        return block[block.index(statement) + 1 :]

    def scope(self, node: ast.AST) -> Scope:
        """The function, class or file that it stands in."""
        return next((each for each in self.above(node) if isinstance(each, Scope)), self.module)

    def loops(self, node: ast.AST) -> list[Loop]:
        """The loops of its own function around it, innermost first."""
        found = []
        below = node
        for each in self.above(node):
            if isinstance(each, Scope):
                break
            if isinstance(each, Loop) and below in each.body:
                found.append(each)
            below = each
        return found

    def containing(self, node: ast.AST) -> Statement:
        """The statement that a node is part of."""
        return next(each for each in (node, *self.above(node)) if isinstance(each, Statement))


def _statements(owner: ast.AST) -> Iterator[Statement]:
    for each in inner_statements(owner):
        if isinstance(each, ast.stmt):
            yield each
        yield from _statements(each)


def _around(line: int, owner: ast.AST) -> Iterator[Statement]:
    """The statements that a line belongs to, outer before inner, in the order of the file."""
    for each in inner_statements(owner):
        if not isinstance(each, ast.stmt):
            yield from _around(line, each)
        elif first_line(each) <= line <= (each.end_lineno or each.lineno):
            yield each
            yield from _around(line, each)


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The nearest nodes below one that have a place: a `with` item, a comprehension and a case have none."""
    for each in ast.iter_child_nodes(node):
        if hasattr(each, "lineno"):
            yield each
        else:
            yield from _placed(each)


def _given(call: ast.AST) -> list[ast.AST]:
    """What stands between the brackets of a call or a class, in the order of the text."""
    match call:
        case ast.Call(args=args, keywords=keywords) | ast.ClassDef(bases=args, keywords=keywords):
            given: list[ast.AST] = [*args, *keywords]
        case _:
            given = []
    return sorted(given, key=lambda each: (getattr(each, "lineno", 0), getattr(each, "col_offset", 0)))


def _brackets(found: "re.Match[str] | None") -> list[int]:
    """The places of the brackets in a text that was searched for them."""
    return [] if found is None else [n for n in range(found.start(), found.end()) if found.string[n] in "()"]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def same(node: ast.AST | None, other: ast.AST | None) -> bool:
    """Whether two expressions are the same, whatever their quotes and spaces, read or written."""
    if type(node) is not type(other):
        return False
    if node is None or other is None:
        return True
    return all(_same_field(getattr(node, each), getattr(other, each)) for each in node._fields if each not in _UNSAID)


_UNSAID = ("ctx", "kind", "type_comment")


def _same_field(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return same(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_field, one, other))
    return type(one) is type(other) and one == other


def same_as(node: ast.AST, code: str) -> bool:
    """Whether a node is what this text says."""
    return same(node, expression(code))
