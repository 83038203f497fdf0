"""`# gradsan: ignore[GS103]` and `# noqa: GS103`: comments that ask for silence, found and written."""

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.source.file import encoding_of, same_code, split_lines

_COMMENT = re.compile(
    r"#\s*(?:gradsan:\s*ignore(?P<all>\s*(?:\[(?P<codes>[^\]]*)\])?)|noqa:\s*(?P<noqa>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))"
)
_OWN = re.compile(r"\bGS[0-9]+")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that asks for silence."""

    file: str
    line: int
    codes: tuple[str, ...]  # in lower case; empty: all
    alone: bool  # it stands on a line of its own, and speaks for the next
    text: str

    def covers(self, line: int, *names: str) -> bool:
        """Whether it speaks of what has one of these names, on this line."""
        lines = (self.line, self.line + 1) if self.alone else (self.line,)
        return line in lines and (not self.codes or any(name in self.codes for name in names))


def comments_in(file: str, text: str) -> list[Comment]:
    """All comments of a file that ask for silence; those for other linters are theirs."""
    if "gradsan:" not in text and "noqa: GS" not in text and "noqa:GS" not in text:
        return []
    lines = enumerate(io.StringIO(text, newline=None), 1)
    found = (_comment(file, number, line) for number, line in lines)
    return [each for each in found if each is not None]


def _comment(file: str, number: int, line: str) -> Comment | None:
    match = _COMMENT.search(line)
    if match is None:
        return None
    listed = match["codes"] if match["noqa"] is None else " ".join(_OWN.findall(match["noqa"]))
    codes = tuple(filter(None, re.split(r"[,\s]+", (listed or "").lower())))
    if match["noqa"] and not codes:
        return None
    return Comment(file, number, codes, alone=line.lstrip().startswith("#"), text=match[0].strip())


def with_comments(text: str, wanted: Mapping[int, Iterable[str]]) -> str:
    """The source with a comment on each of these lines; a line that cannot take one is left as it is."""
    lines = list(split_lines(text))
    for number, codes in wanted.items():
        if not 1 <= number <= len(lines):
            continue
        line = lines[number - 1]
        body = line.rstrip("\r\n")
        lines[number - 1] = f"{body}  # gradsan: ignore[{', '.join(sorted(codes))}]{line[len(body) :]}"
        if not same_code(text, "".join(lines)):
            lines[number - 1] = line
    return "".join(lines)


def commented(content: bytes, wanted: Mapping[int, Iterable[str]]) -> bytes:
    """The content of a file with comments on these lines; it keeps its encoding and its line ends.

    It stays as it is where its encoding does not lead back to the same bytes.
    """
    encoding = encoding_of(content)
    text = content.decode(encoding)
    return with_comments(text, wanted).encode(encoding) if text.encode(encoding) == content else content
