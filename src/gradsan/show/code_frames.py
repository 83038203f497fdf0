"""What a check found, with the lines it is about: each marked where it happens and with what it means."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from gradsan.causes.cause import Role
from gradsan.facts.location import Location
from gradsan.report import Diagnosis, Fix, Report
from gradsan.show.harmless import harmless, neutral
from gradsan.show.places import explanation_places, main_place, main_role, written
from gradsan.show.typography import DIFF, NARROWEST, SEVERITY, changed_lines, rendered, with_inline_code, wrapped

_QUIET = "dim"
_GUTTER = "bold blue"

Lines = Callable[[Location], str | None]  # the whole line of a place, with its indentation; None: not at hand


def framed(report: Report, *, width: int, color: bool, lines: Lines) -> str:
    """All diagnoses of a check."""
    text = Text()
    for each in harmless(report).diagnoses:
        text.append_text(_explanation(each, max(width, NARROWEST), lines)).append("\n")
    return rendered(text, color=color)


def _explanation(diagnosis: Diagnosis, width: int, lines: Lines) -> Text:
    text = _title(diagnosis, width)
    marks = list(_marks(diagnosis, lines))
    gutter = max(len(str(mark.line)) for mark in marks)
    blocks = [(file, list(block)) for file, block in groupby(marks, key=lambda mark: mark.file)]
    for number, (_, block) in enumerate(blocks):
        arrow = "-->" if number == 0 else ":::"
        where = written(main_place(diagnosis)) if _has_main(block) else block[0].where
        text.append(f"{'':{gutter}}{arrow} ", _GUTTER).append(f"{where}\n").append(f"{'':{gutter}} |\n", _GUTTER)
        text.append_text(_block(block, gutter, width))
    text.append(f"{'':{gutter}} |\n", _GUTTER)
    for note in _notes(diagnosis):
        text.append_text(_labelled(gutter, "note", note, width))
    for place, fix in enumerate(diagnosis.fixes):
        text.append_text(_fix(gutter, "fix" if place == 0 else "or", fix, width))
    return text


def _title(diagnosis: Diagnosis, width: int) -> Text:
    head = f"{diagnosis.severity}[{diagnosis.code}]"
    body = wrapped(f"{head} {diagnosis.name}: {diagnosis.message}", width)
    text = with_inline_code(Text("\n  ".join(body) + "\n"))
    text.stylize(SEVERITY[diagnosis.severity], 0, len(head))
    text.stylize("bold", len(head), len(head) + 1 + len(diagnosis.name))
    return text


@dataclass(frozen=True, slots=True)
class _Mark:
    """A span of a line, and what happens there."""

    file: tuple[str, int | None]
    where: str
    line: int
    source: str
    start: int  # characters before the span
    length: int
    meaning: str
    role: Role
    main: bool


def _marks(diagnosis: Diagnosis, lines: Lines) -> Iterator[_Mark]:
    """The spans, file by file, in the order of lines: that of the main place last."""
    main = main_role(diagnosis)
    marks = [_mark(role, at, words, lines, main=role == main) for role, at, words in explanation_places(diagnosis)]
    home = next(mark.file for mark in marks if mark.main)
    yield from sorted(
        marks, key=lambda mark: (mark.file == home, mark.file[0], mark.file[1] or 0, mark.line, mark.main)
    )


def _mark(role: Role, at: Location, words: str, lines: Lines, *, main: bool) -> _Mark:
    whole = lines(at)
    source = at.source or "" if whole is None else neutral(whole.rstrip())
    shift = len(source) - len(source.lstrip()) if whole is not None else 0
    start = max((at.column or 1) - 1, shift) if whole is not None else 0
    ends_here = at.end_column is not None and (at.end_line or at.line) == at.line
    end = (at.end_column or 1) - 1 if ends_here and whole is not None else len(source)
    length = max(1, min(end, len(source)) - start)
    return _Mark((at.file, at.cell), written(at), at.line, source, start, length, words, role, main)


def _block(marks: list[_Mark], gutter: int, width: int) -> Text:
    """The marked lines of one file; a gap where lines were left out."""
    text = Text()
    before: int | None = None
    shared = min((len(mark.source) - len(mark.source.lstrip()) for mark in marks), default=0)
    for line, on_line in groupby(marks, key=lambda mark: mark.line):
        together = list(on_line)
        if before is not None and line > before + 1:
            text.append("...\n" if gutter > 1 else f"{'':{gutter}}...\n", _GUTTER)
        before = line
        room = max(width - gutter - 3, NARROWEST)
        source = together[0].source[shared:]
        text.append(f"{line:>{gutter}} | ", _GUTTER).append(_shortened(source, room) + "\n")
        for mark in together:
            style = SEVERITY["error"] if mark.main else _GUTTER
            start = min(mark.start - shared, room - 1)
            length = max(1, min(mark.length, room - start))
            sign = "^" if mark.main else "-"
            text.append(f"{'':{gutter}} | ", _GUTTER)
            text.append_text(_underlined(start, sign * length, mark.meaning, style, gutter, width))
    return text


def _underlined(start: int, line: str, meaning: str, style: str, gutter: int, width: int) -> Text:
    """The line under a span with its meaning beside it, or below where there is no room."""
    if gutter + 3 + start + len(line) + 1 + len(meaning) <= width:
        return Text(f"{'':{start}}{line} {meaning}\n", style)
    indent = min(start, max(0, width - gutter - 3 - len(meaning)))
    return (
        Text(f"{'':{start}}{line}\n", style)
        .append(f"{'':{gutter}} | ", _GUTTER)
        .append(f"{'':{indent}}{meaning}\n", style)
    )


def _has_main(block: list[_Mark]) -> bool:
    return any(mark.main for mark in block)


def _shortened(source: str, width: int) -> str:
    return source if len(source) <= width else source[: width - 1] + "…"


def _notes(diagnosis: Diagnosis) -> Iterator[str]:
    called = _parting(diagnosis)
    if called is not None:
        yield called
    yield from diagnosis.notes
    if diagnosis.confidence != "certain":
        yield f"{diagnosis.confidence}, not certain: it rests on a branch or a name that source alone cannot settle"


def _parting(diagnosis: Diagnosis) -> str | None:
    """Where both passes are the same line: the calls in which they differ."""
    freed, used = diagnosis.freed, diagnosis.used
    if freed is None or used is None or (freed.file, freed.line) != (used.file, used.line):
        return None
    for ours, theirs in zip(freed.stack, used.stack, strict=False):
        if ours != theirs:
            return f"the first call comes from {ours.file}:{ours.line}, the second from {theirs.file}:{theirs.line}"
    return None


def _labelled(gutter: int, label: str, prose: str, width: int) -> Text:
    head = f"{'':{gutter}} = {label}: "
    body = wrapped(prose, width - len(head))
    text = Text().append(f"{'':{gutter}} = ", _GUTTER).append(f"{label}: ", "bold")
    return text.append_text(with_inline_code(Text(f"\n{'':{len(head)}}".join(body) + "\n")))


def _fix(gutter: int, label: str, fix: Fix, width: int) -> Text:
    text = _labelled(gutter, label, fix.title, width)
    for edit in fix.edits if label == "fix" else ():  # the best one in full; the others are named
        text.append(f"{'':{gutter}}   {edit.file}:{edit.line}\n", _QUIET)
        for line in _changed(edit.old, edit.new):
            text.append(f"{'':{gutter}}   {line}".rstrip() + "\n", DIFF[line[0]])
    return text


def _changed(old: str, new: str) -> list[str]:
    """The lines that go and come, without the indentation that all of them share."""
    before, after = old.splitlines(), new.splitlines()
    shared = min((len(each) - len(each.lstrip()) for each in (*before, *after) if each.strip()), default=0)
    return changed_lines([each[shared:] for each in before], [each[shared:] for each in after])
