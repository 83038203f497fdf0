"""`# gradsan: ignore[GS103]` and `# noqa: GS103`: what an author lives with, and what no longer applies."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.report import Diagnosis

_COMMENT = re.compile(
    r"#\s*(?:gradsan:\s*ignore(?P<all>\s*(?:\[(?P<codes>[^\]]*)\])?)|noqa:\s*(?P<noqa>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))"
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that asks for silence."""

    file: str
    line: int
    codes: tuple[str, ...]  # in lower case; empty: all
    alone: bool  # it stands on a line of its own, and speaks for the next
    text: str

    def covers(self, diagnosis: Diagnosis, line: int) -> bool:
        """Whether it speaks of this diagnosis on this line."""
        lines = (self.line, self.line + 1) if self.alone else (self.line,)
        return line in lines and (
            not self.codes or diagnosis.code.lower() in self.codes or diagnosis.name in self.codes
        )


def comments_in(file: str, text: str) -> list[Comment]:
    """All comments of a file that ask for silence; those for other linters are theirs."""
    if "gradsan:" not in text and "noqa: GS" not in text and "noqa:GS" not in text:
        return []
    found = []
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        listed = match["noqa"] if match["noqa"] is not None else match["codes"]
        codes = tuple(each.strip().lower() for each in re.split(r"[,\s]+", listed or "") if each.strip())
        if match["noqa"] is not None:
            codes = tuple(each for each in codes if each.startswith("gs"))
            if not codes:
                continue
        alone = line.lstrip().startswith("#")
        found.append(Comment(file, number, codes, alone, match[0].strip()))
    return found


@dataclass(frozen=True, slots=True)
class Silenced:
    """What is left to tell, and the comments that silenced nothing."""

    told: tuple[Diagnosis, ...]
    unused: tuple[Comment, ...]


def silenced(diagnoses: Iterable[Diagnosis], comments: Mapping[str, list[Comment]]) -> Silenced:
    """Leave out what comments on its lines ask not to be told."""
    used: set[Comment] = set()
    told = []
    for each in diagnoses:
        covering = [
            comment
            for place in (each.used, each.held, each.made, each.cut, each.changed, each.enters)
            if place is not None and place.cell is None
            for comment in comments.get(place.file, [])
            if comment.covers(each, place.line)
        ]
        used.update(covering)
        if not covering:
            told.append(each)
    everything = [comment for listed in comments.values() for comment in listed]
    return Silenced(tuple(told), tuple(each for each in everything if each not in used))


def with_comments(text: str, wanted: Mapping[int, Iterable[str]]) -> str:
    """The source with a comment on each of these lines; a line that cannot take one is left as it is."""
    lines = io.StringIO(text, newline="").readlines()  # with their own ends
    before = ast.dump(ast.parse(text))
    for number, codes in wanted.items():
        if not 1 <= number <= len(lines):
            continue
        line = lines[number - 1]
        body = line.rstrip("\r\n")
        lines[number - 1] = f"{body}  # gradsan: ignore[{', '.join(sorted(codes))}]{line[len(body) :]}"
        if not _same("".join(lines), before):
            lines[number - 1] = line
    return "".join(lines)


def commented(content: bytes, wanted: Mapping[int, Iterable[str]]) -> bytes:
    """The content of a file with comments on these lines; it keeps its encoding and its line ends."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return with_comments(content.decode(encoding), wanted).encode(encoding)


def _same(text: str, before: str) -> bool:
    try:
        return ast.dump(ast.parse(text)) == before
    except SyntaxError:
        return False
