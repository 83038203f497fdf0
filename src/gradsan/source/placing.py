"""Where statements are added, taken away and written again: the lines of a block, and how each is indented.

Statements that share a line, as in `a(); b()` or `if a: b`, get a line each when one is added or taken away.
"""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gradsan.source.file import split_lines
from gradsan.source.splices import NoPlaceError, Splice, spliced
from gradsan.source.tree import Statement, Tree, first_line, is_simple

_SEPARATOR = re.compile(r"[ \t]*;(?:[ \t]|\\\r?\n)*")
_MARGIN = re.compile(r"(?:[ \t\f]|\\\r?\n)*\Z")
_CONTENT = re.compile(r"[^\r\n]*")
_IN_STRING = {"FSTRING_START": 1, "FSTRING_END": -1, "TSTRING_START": 1, "TSTRING_END": -1}


@dataclass
class Placed:
    """What becomes of a statement's lines."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    instead: list[str] | None = None  # None: it stays
    with_comments: bool = False  # whether those above it go, too

    @property
    def is_rewritten(self) -> bool:
        """Whether nothing is left of what stood inside of it."""
        return self.instead is not None

    @property
    def is_gone(self) -> bool:
        """Whether nothing takes its place."""
        return self.instead == [] and not self.before and not self.after


Changes = Mapping[Statement, Placed]


def placed(tree: Tree, changes: Changes, inner: Sequence[Splice]) -> list[Splice]:
    """The splices that change the lines of some statements, and those of `inner` that are left beside them."""
    found: list[Splice] = []
    rewritten = {statement for statement, change in changes.items() if change.is_rewritten}
    done = {each for each in changes if not rewritten.isdisjoint(tree.above(each))}
    # From the end of the file: what comes below a statement also comes below all that ends with it.
    for statement in sorted(changes, key=tree.span, reverse=True):
        line = line_of(tree, statement)
        if not done.issuperset(line):
            done.update(line)
            found += _written(tree, line, changes, inner)
    return found + [each for each in inner if not any(map(each.is_within, found))]


def line_of(tree: Tree, statement: Statement) -> Sequence[Statement]:
    """The statements of its block that share a line with it, itself included."""
    block = tree.block(statement)
    first = last = block.index(statement)
    while first > 0 and _share_a_line(tree, block[first - 1], block[first]):
        first -= 1
    while last + 1 < len(block) and _share_a_line(tree, block[last], block[last + 1]):
        last += 1
    return block[first : last + 1]


def _share_a_line(tree: Tree, one: Statement, other: Statement) -> bool:
    between = tree.source.text[tree.span(one)[1] : start_of(tree, other)]
    return _SEPARATOR.fullmatch(between) is not None


def start_of(tree: Tree, statement: Statement) -> int:
    """Where it begins, its decorators included."""
    decorators = getattr(statement, "decorator_list", ())
    return tree.source.text.rindex("@", 0, tree.span(decorators[0])[0]) if decorators else tree.span(statement)[0]


def _written(tree: Tree, line: Sequence[Statement], changes: Changes, inner: Sequence[Splice]) -> Iterator[Splice]:
    if tree.source.text.startswith("elif", start_of(tree, line[0])) and isinstance(line[0], ast.If):
        raise NoPlaceError("an `elif` has nothing beside it")
    block = tree.block(line[0])
    is_emptied = all(each in changes and changes[each].is_gone for each in block)
    instead = ["pass"] if is_emptied and line[0] is block[0] and tree.parent(line[0]) is not tree.module else []
    if len(line) == 1 and not _header_end(tree, line[0]):
        yield from _alone(tree, line[0], changes[line[0]], instead)
    else:
        yield from _crowded(tree, line, changes, inner, instead)


def _alone(tree: Tree, statement: Statement, change: Placed, instead: list[str]) -> Iterator[Splice]:
    """A statement that has its lines for itself."""
    indent, end = indentation(tree, statement), line_end(tree)
    above = _line_start(tree, start_of(tree, statement))
    if change.instead is None:
        below = _below(tree, statement, indent)
        if change.before:
            yield Splice(above, above, "".join(f"{each}{end}" for each in _indented(change.before, indent)))
        if change.after:
            yield Splice(below, below, "".join(f"{end}{each}" for each in _indented(change.after, indent)))
        return
    first = tree.starts[_leading(tree, statement)] if change.with_comments else above
    last = _content_end(tree, tree.span(statement)[1])
    new = _indented([*change.before, *change.instead, *change.after] or instead, indent)
    if not new and first == 0:
        last = tree.starts[tree.end_line(statement)]
    elif not new:  # with the line end above it: what comes below stays where it is
        first = _content_end(tree, _line_start(tree, first - 1))
    yield Splice(first, last, end.join(new))


def _crowded(
    tree: Tree, line: Sequence[Statement], changes: Changes, inner: Sequence[Splice], instead: list[str]
) -> Iterator[Splice]:
    """Statements that share a line, with each other or with the `if` that they stand under."""
    indent, end = indentation(tree, line[0]), line_end(tree)
    header = _header_end(tree, line[0])
    last = tree.span(line[-1])[1]
    stop = _content_end(tree, last)
    comment = tree.source.text[last:stop].lstrip("; \t")
    codes: list[str] = []
    for each in line:
        change = changes.get(each, Placed())
        own = [_spliced(tree, each, inner)] if change.instead is None else [*change.instead]
        own[-1:] = [f"{code}  {comment}" if each is line[-1] and comment else code for code in own[-1:]]
        codes += [*change.before, *own, *change.after]
    new = end.join(_indented(codes or instead, indent))
    if header:
        yield Splice(header, stop, end + new)
    elif new:
        yield Splice(_line_start(tree, start_of(tree, line[0])), stop, new)
    else:
        yield from _alone(tree, line[0], Placed(instead=[]), [])


def _spliced(tree: Tree, statement: Statement, inner: Iterable[Splice]) -> str:
    """A statement's own text, with what changes inside of it, as if it were not indented."""
    start, end = tree.span(statement)
    own = [Splice(each.start - start, each.end - start, each.text) for each in inner if start <= each.start < end]
    return outdented(spliced(tree.source.text[start:end], own), _margin(tree, start))


def indentation(tree: Tree, statement: Statement) -> str:
    """The white space before a statement; what it would have on a line of its own."""
    first = line_of(tree, statement)[0]
    if not _header_end(tree, first):
        return _margin(tree, start_of(tree, first))
    owner = tree.parent(first)
    line = owner.pattern.lineno if isinstance(owner, ast.match_case) else tree.line(owner or first)
    return _margin(tree, tree.starts[line - 1]) + unit(tree)


def _margin(tree: Tree, offset: int) -> str:
    line = tree.source.text[_line_start(tree, offset) : _content_end(tree, offset)]
    return line[: len(line) - len(line.lstrip())]


def _header_end(tree: Tree, statement: Statement) -> int:
    """Where the colon is that a statement follows on its line; 0 where it begins the line."""
    text = tree.source.text
    start = start_of(tree, statement)
    begin = max(tree.starts[max(first_line(statement) - 3, 0)], 0)  # a line may go on after a backslash
    margin = _MARGIN.search(text, begin, start)
    before = start if margin is None else margin.start()
    return before if before > 0 and text[before - 1] == ":" else 0


def _line_start(tree: Tree, offset: int) -> int:
    return tree.starts[bisect_right(tree.starts, offset) - 1]


def _content_end(tree: Tree, offset: int) -> int:
    """The end of a line, comments included, before its line end."""
    found = _CONTENT.match(tree.source.text, offset)
    return offset if found is None else found.end()


def line_end(tree: Tree) -> str:
    """The line end that a file has."""
    first = tree.source.lines[0] if tree.source.lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def unit(tree: Tree) -> str:
    """How the file indents a block."""
    for each in tree.statements:
        owner = tree.parent(each)
        if isinstance(owner, ast.stmt) and first_line(each) > tree.line(owner) and not _header_end(tree, each):
            inner, outer = _margin(tree, start_of(tree, each)), _margin(tree, tree.span(owner)[0])
            if inner.startswith(outer) and inner != outer:
                return inner.removeprefix(outer)
    return "    "


def _leading(tree: Tree, statement: Statement) -> int:
    """The index of the first of the blank lines and comments right above a statement, which are about it."""
    index = first = first_line(statement) - 1
    margin = len(indentation(tree, statement))
    for number in reversed(range(index)):
        line = tree.source.lines[number]
        written = line.strip()
        if written and (not written.startswith("#") or len(line) - len(line.lstrip()) > margin):
            return first
        first = number
    return index  # what stands above the first statement of a file is about the file


def _below(tree: Tree, statement: Statement, indent: str) -> int:
    """The end of a statement's lines; a comment below its block that is indented as the block is belongs to it."""
    last = tree.end_line(statement)
    if not is_simple(statement):
        for number, line in enumerate(tree.source.lines[last:], last + 1):
            written = line.strip()
            is_inside = written.startswith("#") and len(line) - len(line.lstrip()) > len(indent)
            if written and not is_inside:
                break
            last = number if is_inside else last
    return _content_end(tree, tree.starts[last - 1])


def code_of(tree: Tree, statement: Statement, *, blanks: bool = False, comments: bool = True) -> str:
    """A statement as it would be written without indentation: with the comment beside it, and those above it."""
    line = line_of(tree, statement)
    if len(line) > 1 or _header_end(tree, statement):
        return _spliced(tree, statement, ())
    start, above = _line_start(tree, start_of(tree, statement)), tree.starts[_leading(tree, statement)]
    end = _content_end(tree, tree.span(statement)[1])
    indent = indentation(tree, statement)
    leading = split_lines(tree.source.text[above:start]) if comments else ()
    kept = "".join(each.lstrip() or "\n" for each in leading if blanks or each.strip())
    return kept + outdented(tree.source.text[start + len(indent) : end], indent)


def header(tree: Tree, statement: ast.With | ast.For | ast.AsyncFor | ast.While) -> str:
    """The line of a statement above its block, with the comment beside it."""
    match statement:
        case ast.While(test=last) | ast.For(iter=last) | ast.AsyncFor(iter=last):
            pass
        case ast.With(items=[*_, item]):
            last = item.optional_vars or item.context_expr
    start, end = tree.span(statement)[0], tree.source.text.index(":", tree.whole(last)[1]) + 1
    end = end if _header_end(tree, statement.body[0]) else _content_end(tree, end)
    return outdented(tree.source.text[start:end], indentation(tree, statement))


def nested(tree: Tree, header: str, *codes: str) -> str:
    """Statements in a block under a header, indented as the file does it."""
    return "\n".join([header, *_indented(codes, unit(tree))])


def outdented(code: str, indent: str) -> str:
    """The same code, its lines without this indentation; the first has none."""
    inside = _lines_in_strings(code)
    lines = [
        line if number in inside else line.removeprefix(indent) for number, line in enumerate(split_lines(code), 1)
    ]
    return "".join(lines)


def _indented(codes: Iterable[str], indent: str) -> list[str]:
    """The lines of some statements in a block."""
    found = []
    for code in codes:
        inside = _lines_in_strings(code)
        for number, line in enumerate(split_lines(code), 1):
            bare = line.rstrip("\r\n")
            found.append(bare if number in inside or not bare else indent + bare)
    return found


def _lines_in_strings(code: str) -> set[int]:
    """The lines that begin inside of a string, whose spaces are part of it."""
    if '"""' not in code and "'''" not in code and "\\\n" not in code:
        return set()
    found: set[int] = set()
    depth = first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            change = _IN_STRING.get(tokenize.tok_name[token.type], 0)
            first = token.start[0] if change > 0 and depth == 0 else first
            depth += change
            if token.type == tokenize.STRING or (change < 0 and depth == 0):
                begin = token.start[0] if token.type == tokenize.STRING else first
                found.update(range(begin + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
