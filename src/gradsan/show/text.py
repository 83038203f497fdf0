"""A report as an explanation for a terminal: what happened where, in order, and how to fix it."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rich.text import Text

from gradsan.causes.cause import Role
from gradsan.facts.location import Frame, Location
from gradsan.lifecycle.amounts import count, size
from gradsan.report import Diagnosis, Edit, Effects, Fix, PathOp, Report, Summary
from gradsan.show.harmless import harmless, neutral
from gradsan.show.places import explanation_places, is_one_line
from gradsan.show.typography import DIFF, NARROWEST, SEVERITY, changed_lines, rendered, with_inline_code, wrapped

_QUIET = "dim"


def terminal(report: Report, *, width: int, color: bool) -> str:
    """All diagnoses of a report, then what the run did in numbers."""
    width = max(width, NARROWEST)
    text = Text()
    for each in harmless(report).diagnoses:
        text.append_text(_explanation(each, width)).append("\n")
    text.append_text(_closing(report))
    return rendered(text, color=color)


def explanation(diagnosis: Diagnosis, *, width: int, color: bool) -> str:
    """One diagnosis."""
    return rendered(_explanation(harmless(diagnosis), max(width, NARROWEST)), color=color)


def proposal(diagnosis: Diagnosis, diff: str, why: str, *, width: int, color: bool) -> str:
    """A diagnosis in a line, its first fix with all that it changes, and how sure that is."""
    width, diagnosis = max(width, NARROWEST), harmless(diagnosis)
    text = _title(diagnosis, width)
    place = diagnosis.used or diagnosis.made or diagnosis.held or diagnosis.cut
    if place is not None:
        text.append(f"  {_place(place)}", "cyan").append(f"  {place.source or ''}\n")
    for fix in diagnosis.fixes[:1] if diff else diagnosis.fixes:
        text.append_text(_fix("fix" if fix is diagnosis.fixes[0] else "or", fix, width))
        if fix.effects.walked_ops is not None:
            text.append_text(_labelled("then", _consequences(fix.effects), width))
    for note in diagnosis.notes:
        if note.startswith("not `"):  # why it is not the remedy that comes to mind
            text.append_text(_labelled("note", note, width))
    for line in neutral(diff, lines=True).splitlines():
        text.append(f"  {line}".rstrip() + "\n", DIFF.get(line[:1], ""))
    text.append_text(_labelled("so", neutral(why), width))
    return rendered(text.append("\n"), color=color)


def _explanation(diagnosis: Diagnosis, width: int) -> Text:
    text = _title(diagnosis, width)
    text.append_text(_places(diagnosis, width))
    if diagnosis.path:
        text.append_text(_labelled("way in", _way_in(diagnosis), width))
    for note in diagnosis.notes:
        text.append_text(_labelled("note", note, width))
    if diagnosis.confidence != "certain":
        text.append_text(_labelled("sure?", f"{diagnosis.confidence}: worked out, not observed", width))
    for place, fix in enumerate(diagnosis.fixes):
        text.append("\n" if place == 0 else "")
        text.append_text(_fix("fix" if place == 0 else "or", fix, width))
        for edit in fix.edits if place == 0 else ():
            text.append_text(_edit(edit))
        if place == 0 and fix.effects.saved_bytes is not None:
            text.append_text(_labelled("then", _effects(fix.effects), width))
    return text


def _title(diagnosis: Diagnosis, width: int) -> Text:
    lines = wrapped(f"{diagnosis.code} {diagnosis.name}: {diagnosis.message}", width)
    text = with_inline_code(Text("\n  ".join(lines) + "\n"))
    text.stylize(SEVERITY[diagnosis.severity], 0, len(diagnosis.code))
    text.stylize("bold", len(diagnosis.code), len(f"{diagnosis.code} {diagnosis.name}"))
    return text


@dataclass(frozen=True, slots=True)
class _Row:
    place: str
    source: str
    meaning: str


def _places(diagnosis: Diagnosis, width: int) -> Text:
    """Each place with its source and what it means: beside it, or below where a line would not fit."""
    rows = list(_rows(diagnosis))
    if not rows:
        return Text()
    places = max(len(row.place) for row in rows)
    sources = max(len(row.source) for row in rows)
    beside = 4 + places + 2 + sources + 2 + max(len(row.meaning) for row in rows) <= width
    text = Text()
    for number, row in enumerate(rows):
        rail, below = _rails(number, len(rows))
        text.append(f"  {rail} ", _QUIET).append(f"{row.place:{places}}", "cyan").append("  ")
        if beside:
            text.append(f"{row.source:{sources}}").append(f"  {row.meaning}\n", "bold")
        else:
            text.append(_shortened(row.source, width - 6 - places) + "\n")
            text.append(f"  {below} ", _QUIET).append(f"{'':{places}}  {row.meaning}\n", "bold")
    return text


def _rails(number: int, rows: int) -> tuple[str, str]:
    if rows == 1:
        return "─", " "
    if number == 0:
        return "┌", "│"
    return ("└", " ") if number == rows - 1 else ("│", "│")


def _rows(diagnosis: Diagnosis) -> Iterator[_Row]:
    for role, location, words in explanation_places(diagnosis):
        yield _Row(_place(location), location.source or "", _meaning(role, words, diagnosis))


def _meaning(role: Role, words: str, diagnosis: Diagnosis) -> str:
    if role in ("freed", "used") and (frame := _parting(diagnosis, role)) is not None:
        words += f", called from {frame.file}:{frame.line}"
    return words + ("  ✗" if role == "used" and diagnosis.severity == "error" else "")


def _parting(diagnosis: Diagnosis, role: Role) -> Frame | None:
    """Where both passes are the same line: the outermost frame in which the calls that led there differ."""
    freed, used = diagnosis.freed, diagnosis.used
    if freed is None or used is None or not is_one_line(diagnosis):
        return None
    for ours, theirs in zip_longest(freed.stack, used.stack):
        if ours != theirs:
            return ours if role == "freed" else theirs
    return None


def _place(location: Location) -> str:
    cell = "" if location.cell is None else f"[{location.cell}]"
    return f"{location.file}{cell}:{location.line}"


def _shortened(source: str, width: int) -> str:
    return source if len(source) <= width else source[: width - 1] + "…"


def _way_in(diagnosis: Diagnosis) -> str:
    """From the loss inwards; ops of one module are named once."""
    names = [name for name, _ in groupby(map(_op_name, diagnosis.path))]
    if diagnosis.elided:
        half = (len(names) + 1) // 2
        names = [*names[:half], f"… {diagnosis.elided} more …", *names[half:]]
    freed = any(each.state == "freed" for each in diagnosis.path)
    return " ← ".join(names) + (f" ┈ freed{_cost(diagnosis)}" if freed else "")


def _op_name(op: PathOp) -> str:
    name = op.op.split("Backward")[0] or op.op
    return f"{op.module} ({name})" if op.module else name


def _cost(diagnosis: Diagnosis) -> str:
    ops, saved = diagnosis.evidence.get("freed_ops"), diagnosis.evidence.get("saved_bytes")
    parts = ["1 op" if ops == 1 else f"{ops} ops"] if ops is not None else []
    if isinstance(saved, int | float):
        parts.append(f"about {size(saved)} of saved values")
    return f" ({', '.join(parts)})" if parts else ""


def _labelled(label: str, prose: str, width: int) -> Text:
    indent = " " * (len(label) + 4)
    lines = wrapped(prose, width - len(indent))
    text = Text().append(f"  {label}  ", _QUIET)
    return text.append_text(with_inline_code(Text(f"\n{indent}".join(lines) + "\n")))


def _fix(label: str, fix: Fix, width: int) -> Text:
    checked = {True: " (verified by running it)", False: " (tried: it does not help)", None: ""}[fix.verified]
    indent = " " * (len(label) + 2)
    lines = wrapped(f"{fix.title}{checked}", width - len(indent))
    text = Text().append(label, "bold green")
    text.append_text(with_inline_code(Text("  " + f"\n{indent}".join(lines) + "\n")))
    return text


def _effects(effects: Effects) -> str:
    """What the simulator predicts."""
    lost = effects.parameters_cut_off
    cut = f"no gradient from this pass for {', '.join(lost)}" if lost else "every parameter still receives its gradient"
    return f"the error ends; about {size(effects.saved_bytes or 0)} of saved values at the peak; {cut}"


def _consequences(effects: Effects) -> str:
    """The same in full, for whoever is to choose."""
    others = effects.parameters_changed
    reported = _effects(effects).split("; ")
    reported[1:1] = [f"the pass walks {count(effects.walked_ops or 0, 'op')}"]
    reported[2] += f", {size(effects.kept_bytes or 0)} of them still kept when it is over"
    if others:
        reported.append(f"another gradient than with all graphs kept for {count(len(others), 'parameter')}")
    return "; ".join(reported)


def _edit(edit: Edit) -> Text:
    """Where, and only the lines that change, without the indentation they share."""
    old, new = edit.old.split("\n"), edit.new.split("\n")
    changed = changed_lines(old, new)
    bare = textwrap.dedent("\n".join(line[2:] for line in changed)).split("\n")
    text = Text().append(f"  {edit.file}:{edit.line}\n", "cyan")
    for line, code in zip(changed, bare, strict=True):
        text.append(f"  {line[0]}  {code}".rstrip() + "\n", DIFF[line[0]])
    return text


def closing(summary: Summary, diagnoses: Sequence[Diagnosis], *, width: int, color: bool) -> str:
    """The summary at the end of a run, on one screen: its findings, the costliest first, and what it did in numbers.

    One line where nothing was found.
    """
    width = max(width, NARROWEST)
    text = Text()
    for each in map(harmless, diagnoses):
        text.append_text(_explanation(each, width)).append("\n")
    text.append(_verdict(diagnoses)).append(f" ({_numbers(summary)})\n", _QUIET)
    return rendered(text, color=color)


def _closing(report: Report) -> Text:
    text = Text()
    if report.summary is not None:
        text.append(_numbers(report.summary) + "\n", _QUIET)
    text.append(_verdict(report.diagnoses) + "\n")
    return text


def _numbers(summary: Summary) -> str:
    parts = [
        count(summary.passes, "pass", "passes"),
        count(summary.steps, "step"),
        count(summary.ops, "op")
        + " walked"
        + (f" ({summary.ops // summary.passes:,} a pass)" if summary.passes else ""),
    ]
    if summary.peak_saved_bytes is not None:
        parts.append(f"{size(summary.peak_saved_bytes)} of saved values at the peak")
    if summary.retained_bytes is not None:
        parts.append(f"{size(summary.retained_bytes)} retained")
    return ", ".join(parts)


def _verdict(diagnoses: Sequence[Diagnosis]) -> str:
    if not diagnoses:
        return "gradsan: nothing found"
    errors = sum(each.severity == "error" for each in diagnoses)
    warnings = len(diagnoses) - errors
    counts = [count(number, word) for number, word in ((errors, "error"), (warnings, "warning")) if number]
    codes = ", ".join(dict.fromkeys(each.code for each in diagnoses))
    return f"gradsan: {' and '.join(counts)} ({codes}); `gradsan explain CODE` says more"
