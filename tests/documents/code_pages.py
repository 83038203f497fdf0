"""The pages under `docs/codes`: what each cause says of itself, with what PyTorch and gradsan really print."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from documents.press import Printed
from gradsan.causes import Cause

_GROUPS = {
    "GS1": 'PyTorch raises "Trying to backward through the graph a second time"',
    "GS2": "PyTorch raises another error of a backward pass",
    "GS3": "No error is raised, but the training is wrong, or memory is wasted",
    "GS0": "A file was not checked",
}


def pages(causes: Sequence[type[Cause]], printed: Mapping[str, Printed]) -> dict[str, str]:
    """Every page by its file's name; `printed` is what each example printed under `gradsan run`."""
    return {"README.md": _index(causes)} | {f"{each.code}.md": _page(each, printed[each.code]) for each in causes}


def _index(causes: Sequence[type[Cause]]) -> str:
    text = "# What the codes mean\n\n`gradsan explain GS103` shows the same page in the terminal.\n"
    for prefix, title in _GROUPS.items():
        text += f"\n## {title}\n\n| code | name | what happened |\n|---|---|---|\n"
        for each in causes:
            if each.code.startswith(prefix):
                text += f"| [{each.code}]({each.code}.md) | {each.name} | {each.summary} |\n"
    return text


def _page(cause: type[Cause], printed: Printed) -> str:
    said, explanation = spoken(printed)
    first, *why = cause.explanation()
    parts = [f"# {cause.code} {cause.name}", first, "## The smallest program", _fenced("python", cause.example.program)]
    who = "Python" if cause.code.startswith("GS0") else "PyTorch"
    parts += [f"## What {who} says", _fenced("text", said) if said else "Nothing: it runs to its end."]
    if printed.out:
        parts += ["It prints", _fenced("text", printed.out)]
    parts += ["## What gradsan says", _fenced("text", explanation), "## Why", *why]
    parts += ["## The right fix", cause.fix, _difference(cause.example.program, cause.example.fixed)]
    if cause.example.fixed_shows:
        parts += ["It then prints", _fenced("text", cause.example.fixed_shows)]
    parts += ["### When not to", cause.unless]
    tempting = cause.tempting
    parts += ["## Tempting, and wrong", tempting.price, _difference(cause.example.program, tempting.program)]
    if tempting.shows:
        is_error = not tempting.shows.endswith("\n")
        parts += ["It then shows", _fenced("text", tempting.shows + (" …\n" if is_error else ""))]
    parts += ["---", "[All codes](README.md)"]
    return "\n\n".join(parts) + "\n"


def spoken(printed: Printed) -> tuple[str, str]:
    """The error, without the traceback above it, and gradsan's explanation below."""
    if not printed.status:
        return "", printed.err
    above, explanation = re.split(r"\n(?=GS\d|error\[GS)", printed.err, maxsplit=1)
    return above.strip().splitlines()[-1] + "\n", explanation


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip(chr(10))}\n```"


def _difference(before: str, after: str) -> str:
    return _fenced("diff", "\n".join(_changes(before, after)))


def _changes(before: str, after: str) -> Iterator[str]:
    """The whole program, for it is short, with the lines that go and come."""
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if not line.startswith("?"):
            yield (line[0] + line[2:]).rstrip()
