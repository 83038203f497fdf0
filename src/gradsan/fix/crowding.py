"""Lines on which several statements stand, `a(); b()` or `if x: y`, written as one statement a line.

An edit is about statements, and adds others beside them. A crowded line is spread out in the tree, and in the file only
if an edit touches it.
"""

import ast
import re
from collections.abc import Iterator

from gradsan.source.file import Source

_WITHOUT_NODE = re.compile(r"\s*(?:else|finally|try|except\b.*|case\b.*)\s*:\s*$")


def spread(source: Source) -> dict[int, tuple[str, ...]]:
    """The crowded lines of a file by their numbers, each as the lines that say the same, with the file's line end."""
    found = {}
    unit = _indentation(source)
    for line, (statements, owner) in _by_line(source.tree).items():
        if pieces := _pieces(source.lines[line - 1], statements, owner, unit):
            found[line] = pieces
    return found


def _by_line(tree: ast.Module) -> dict[int, tuple[list[ast.stmt], ast.AST]]:
    """The statements that begin on each line and have no block of their own, and what they belong to."""
    found: dict[int, tuple[list[ast.stmt], ast.AST]] = {}
    for owner, statement in _statements(tree):
        if not hasattr(statement, "body") and not isinstance(statement, ast.Match):
            found.setdefault(statement.lineno, ([], owner))[0].append(statement)
    return found


def _statements(owner: ast.AST) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """Every statement with what it belongs to. Expressions, which hold none, are most of a tree: none is looked at."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(owner, block, ()):
            if isinstance(each, ast.stmt):
                yield owner, each
            yield from _statements(each)


def _pieces(line: str, statements: list[ast.stmt], owner: ast.AST, unit: str) -> tuple[str, ...]:
    """None where it is not crowded, or where a statement goes on below."""
    content = line.encode()
    statements = sorted(statements, key=lambda each: each.col_offset)
    before = content[: statements[0].col_offset].decode()
    header = before.strip()
    if (not header and len(statements) == 1) or any(each.end_lineno != each.lineno for each in statements):
        return ()
    begins_here = getattr(owner, "lineno", None) == statements[0].lineno
    if header and not (header.endswith(":") and (begins_here or _WITHOUT_NODE.match(before))):
        return ()
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    indent = text[: len(text) - len(text.lstrip())]
    inner = indent + unit if header else indent
    parts = [content[each.col_offset : each.end_col_offset].decode() for each in statements]
    rest = content[statements[-1].end_col_offset or 0 :].decode().rstrip("\r\n").lstrip("; \t")
    parts[-1] += f"  {rest}" if rest else ""
    lines = [f"{indent}{header}", *(inner + part for part in parts)] if header else [inner + part for part in parts]
    return (*(f"{each}{end or chr(10)}" for each in lines[:-1]), lines[-1] + end)


def _indentation(source: Source) -> str:
    """How the file indents a block."""
    for node in ast.walk(source.tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list) and body[0].lineno > node.lineno:
            line, outer = source.lines[body[0].lineno - 1], source.lines[node.lineno - 1]
            inner, own = (each[: len(each) - len(each.lstrip())] for each in (line, outer))
            if inner.startswith(own) and inner != own:
                return inner.removeprefix(own)
    return "    "
