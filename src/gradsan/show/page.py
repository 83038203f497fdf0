"""The page of a cause and the table of all causes, as `gradsan explain` shows them."""

import difflib
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.text import Text

from gradsan.causes import Cause
from gradsan.show.typography import DIFF, NARROWEST, SEVERITY, rendered, with_inline_code, wrapped

_GROUPS = {
    "GS1": 'PyTorch raises "Trying to backward through the graph a second time"',
    "GS2": "PyTorch raises another error of a backward pass",
    "GS3": "no error is raised, but the training is wrong, or memory is wasted",
    "GS0": "not checked",
}
_CONTEXT = 2  # lines of the program around each change

_HEADING = "bold"
_QUIET = "dim"


def page(cause: type[Cause], *, width: int, color: bool, address: str | None = None) -> str:
    """Everything there is to know about a cause: what it is, a program that shows it, the fix, and its limits.

    `address`: where the same page can be read in a browser.
    """
    width = max(width, NARROWEST)
    text = Text()
    text.append(f"{cause.code} ", SEVERITY[cause.severity]).append(f"{cause.name}\n", _HEADING)
    for paragraph in cause.explanation():
        text.append("\n").append_text(_prose(paragraph, width))
    text.append_text(_heading("Example")).append_text(_block(cause.example.program))
    text.append_text(_outcome(cause))
    text.append_text(_heading("Fix")).append_text(_prose(cause.fix, width))
    text.append("\n").append_text(_changes(cause.example.program, cause.example.fixed))
    if cause.example.fixed_shows:
        text.append("\n  It then prints\n\n").append_text(_block(cause.example.fixed_shows))
    text.append_text(_heading("When not to")).append_text(_prose(cause.unless, width))
    text.append_text(_heading("Tempting, and wrong")).append_text(_prose(cause.tempting.price, width))
    text.append("\n").append_text(_changes(cause.example.program, cause.tempting.program))
    if cause.tempting.shows:
        text.append("\n  It then shows\n\n").append_text(_shown(cause.tempting.shows))
    if address is not None:
        text.append(f"\nOn the site: {address}\n")
    return rendered(text, color=color)


def markdown(cause: type[Cause]) -> str:
    """The same for an editor, which shows it beside the line: what it is, the fix, and their limits."""
    changes = "\n".join(_diff(cause.example.program, cause.example.fixed))
    parts = [f"**{cause.code} {cause.name}**", *cause.explanation()]
    parts += ["**Fix**", cause.fix, f"```diff\n{changes}\n```"]
    parts += ["**When not to**", cause.unless, "**Tempting, and wrong**", cause.tempting.price]
    return "\n\n".join(parts) + "\n"


def table(causes: Sequence[type[Cause]], *, width: int, color: bool) -> str:
    """All codes with their names, grouped by how the user meets them."""
    width = max(width, NARROWEST)
    names = max(len(each.name) for each in causes)
    text = Text()
    for prefix, title in _GROUPS.items():
        text.append(f"{title}\n", _HEADING)
        for each in causes:
            if each.code.startswith(prefix):
                text.append_text(_row(each, names, width))
        text.append("\n")
    text.append("`gradsan explain GS103` shows the page of a code.\n")
    return rendered(with_inline_code(text), color=color)


def as_json(causes: type[Cause] | Sequence[type[Cause]]) -> str:
    """The fields of one page, or of many as a list."""
    fields = _fields(causes) if isinstance(causes, type) else [_fields(each) for each in causes]
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _fields(cause: type[Cause]) -> dict[str, object]:
    return {
        "code": cause.code,
        "name": cause.name,
        "severity": cause.severity,
        "summary": cause.summary,
        "explanation": cause.explanation(),
        "example": asdict(cause.example),
        "fix": cause.fix,
        "unless": cause.unless,
        "tempting": asdict(cause.tempting),
    }


def _row(cause: type[Cause], names: int, width: int) -> Text:
    """One line of the table; a summary that is too long goes on under itself, or below where there is no room."""
    label = f"  {cause.code}  {cause.name:{names}}  "
    beside = width - len(label) >= NARROWEST // 2
    indent = " " * (len(label) if beside else len("  GS000  "))
    lines = wrapped(cause.summary, width - len(indent))
    row = Text().append(f"  {cause.code}", SEVERITY[cause.severity]).append(label.removeprefix(f"  {cause.code}"))
    if not beside:
        row.rstrip()
        row.append(f"\n{indent}")
    return row.append(f"\n{indent}".join(lines)).append("\n")


def _heading(title: str) -> Text:
    return Text().append(f"\n{title}\n\n", _HEADING)


def _prose(paragraph: str, width: int) -> Text:
    return with_inline_code(Text("".join(f"  {line}\n" for line in wrapped(paragraph, width - 2))))


def _block(program: str) -> Text:
    """Source and output stand as they are: wrapped, they could no longer be copied."""
    return Text(textwrap.indent(program.rstrip("\n"), "    ") + "\n")


def _outcome(cause: type[Cause]) -> Text:
    if cause.severity == "error":
        return Text(f"\n  {'Python' if cause.code.startswith('GS0') else 'PyTorch'} stops it with\n\n").append_text(
            _shown(cause.example.shows)
        )
    if not cause.example.shows:
        return Text("\n  Nothing is raised, and nothing is printed.\n")
    return Text("\n  Nothing is raised. It prints\n\n").append_text(_shown(cause.example.shows))


def _shown(printed: str) -> Text:
    """What a program prints; the beginning of an error ends in no line break."""
    if printed.endswith("\n"):
        return _block(printed)
    return Text(textwrap.indent(f"{printed} ...", "    ") + "\n", SEVERITY["error"])


def _changes(program: str, fixed: str) -> Text:
    text = Text()
    for line in _diff(program, fixed):
        text.append(f"    {line}".rstrip() + "\n", DIFF.get(line[0], "") if line != _GAP else _QUIET)
    return text


_GAP = "  ..."


def _diff(program: str, fixed: str) -> Iterator[str]:
    """Lines that begin with `- `, `+ ` or two blanks, and a gap wherever lines of the program were left out."""
    difference = difflib.unified_diff(program.splitlines(), fixed.splitlines(), n=_CONTEXT, lineterm="")
    for line in list(difference)[2:]:
        if line.startswith(("@@ -1,", "@@ -1 ")):
            continue
        yield _GAP if line.startswith("@@") else f"{line[0]} {line[1:]}"
