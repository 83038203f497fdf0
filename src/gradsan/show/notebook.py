"""Explanations as HTML for the output of a notebook's cell: small, without scripts but for the button that copies.

Styles stand at their elements, and colours are of a kind that both light and dark themes let read. Every text of
others is made harmless first, and escaped.
"""

import html
import re
import textwrap
from collections.abc import Iterator, Sequence

from gradsan.facts.location import line_of
from gradsan.lifecycle.amounts import count
from gradsan.report import Diagnosis, Edit, Fix, Report, Summary
from gradsan.show.explained import consequence, notes, title
from gradsan.show.harmless import harmless
from gradsan.show.places import explanation_places
from gradsan.show.typography import changed_lines

_SEVERITY = {"error": "#e5484d", "warning": "#b7791f"}
_CHANGE = {"-": "rgba(229,72,77,.18)", "+": "rgba(48,164,108,.2)"}
_FIX = "color:#30a46c"
_CODE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"
_BUTTON = (
    "font:inherit;font-size:.85em;margin-left:1em;padding:0 .6em;cursor:pointer;color:inherit;background:transparent;"
    "border:1px solid rgba(128,128,128,.6);border-radius:4px"
)
# Where a page may not write to the clipboard (over plain HTTP, in some frames), a selection can be copied.
COPY = (
    "(async b=>{try{await navigator.clipboard.writeText(b.dataset.code)}catch{"
    "const t=document.createElement('textarea');t.value=b.dataset.code;b.after(t);t.select();"
    "document.execCommand('copy');t.remove()}b.textContent='copied'})(this)"
)
_INLINE_CODE = re.compile(r"`([^`]+)`")


def explanation(diagnosis: Diagnosis) -> str:
    """One diagnosis: what is wrong, the fix as code with a button that copies it, the places in the order of time."""
    shown = harmless(diagnosis)
    color = _SEVERITY[shown.severity]
    return _element(
        "div",
        _headline(shown, color) + "".join(_parts(shown)),
        f"border-left:4px solid {color};padding:.4em 0 .4em .8em;margin:.4em 0;line-height:1.5",
    )


def report(found: Report) -> str:
    """All diagnoses of a report, and how many there are."""
    return summary(found.summary, found.diagnoses)


def summary(numbers: Summary | None, diagnoses: Sequence[Diagnosis]) -> str:
    """What was found, and what was done in numbers."""
    done = "" if numbers is None else f" ({_numbers(numbers)})"
    verdict = "nothing found" if not diagnoses else f"{count(len(diagnoses), 'problem')} found"
    last = _element("div", _text(f"gradsan: {verdict}{done}"), "opacity:.75")
    return "".join(map(explanation, diagnoses)) + last


def _numbers(numbers: Summary) -> str:
    return f"{count(numbers.passes, 'backward pass', 'backward passes')}, {count(numbers.steps, 'step')}"


def _headline(diagnosis: Diagnosis, color: str) -> str:
    code = _element("b", _text(f"{diagnosis.code} {diagnosis.name}"), f"color:{color}")
    return _element("div", f"{code}: {_prose(diagnosis.message)}")


def _parts(diagnosis: Diagnosis) -> Iterator[str]:
    """In the order of a reader's questions: what to write, what happened, and what else."""
    for fix in diagnosis.fixes[:1]:
        yield from _first(fix)
    yield _places(diagnosis)
    for fix in diagnosis.fixes[1:]:
        yield _labelled("or", title(fix), _FIX)
    for note in notes(diagnosis):
        yield _labelled("note", note)
    yield _labelled("details", f"`gradsan explain {diagnosis.code}`")


def _first(fix: Fix) -> Iterator[str]:
    yield _labelled("fix", title(fix), _FIX)
    yield from map(_edit, fix.edits)
    if (warning := consequence(fix.effects)) is not None:
        yield _labelled("but", warning)


def _edit(edit: Edit) -> str:
    """Where, the lines that change with those beside them, and a button that copies the new ones."""
    changed = changed_lines(edit.old.split("\n"), edit.new.split("\n"))
    bare = textwrap.dedent("\n".join(line[2:] for line in changed)).split("\n")
    shown = "".join(
        _element("div", _text(f"{line[0]} {code}"), f"background:{_CHANGE.get(line[0], 'transparent')};padding:0 .4em")
        for line, code in zip(changed, bare, strict=True)
    )
    new = "\n".join(line[2:] for line in changed if line.startswith("+"))
    button = ""
    if new:
        button = f'<button type="button" data-code="{_attribute(new)}" onclick="{COPY}" style="{_BUTTON}">copy</button>'
    where = _element("div", _element("code", _text(edit.where)) + button, "margin-top:.2em")
    return where + _element("div", shown, f"{_CODE};border:1px solid rgba(128,128,128,.35);margin:.2em 0 .4em")


def _places(diagnosis: Diagnosis) -> str:
    cell = "text-align:left;vertical-align:top;padding:0 1em 0 0;border:0;background:transparent"
    rows = "".join(
        '<tr style="background:transparent">'  # notebooks colour every second row
        + _element("td", str(number), f"{cell};opacity:.75")
        + _element("td", _element("code", _text(line_of(at))), cell)
        + _element("td", _element("code", _text(at.source or "")), f"{cell};{_CODE}")
        + _element("td", _prose(words), cell)
        + "</tr>"
        for number, (_, at, words) in enumerate(explanation_places(diagnosis), 1)
    )
    return f'<table style="border-collapse:collapse;margin:.4em 0;font-size:inherit">{rows}</table>' if rows else ""


def _labelled(label: str, prose: str, style: str = "") -> str:
    return _element("div", _element("b", f"{label}: ", style) + _prose(prose))


def _element(name: str, inner: str, style: str = "") -> str:
    """`inner` is HTML already; a style is always gradsan's own."""
    return f'<{name} style="{style}">{inner}</{name}>' if style else f"<{name}>{inner}</{name}>"


def _prose(text: str) -> str:
    """Text in which what stands between backticks is code."""
    return _INLINE_CODE.sub(r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    return html.escape(text, quote=True)


def _attribute(text: str) -> str:
    return html.escape(text, quote=True).replace("\n", "&#10;")
