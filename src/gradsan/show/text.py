"""A report as an explanation for a terminal: what is wrong, how to fix it, and what happened where, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from gradsan.facts.location import line_of
from gradsan.lifecycle.amounts import count, size
from gradsan.report import Diagnosis, Report, Summary
from gradsan.show.explained import (
    QUIET,
    consequence,
    explained,
    fix_sentence,
    foretold,
    headline,
    labelled,
    padded,
    shortened,
    witnessed,
)
from gradsan.show.harmless import harmless, neutral
from gradsan.show.places import NOWHERE, explanation_places, main_place
from gradsan.show.typography import DIFF, NARROWEST, SEVERITY, patch_lines, rendered, wrapped


def terminal(report: Report, *, width: int, color: bool, verbose: bool = False) -> str:
    """All diagnoses of a report, then what the run did in numbers."""
    width = max(width, NARROWEST)
    text = Text()
    for each in harmless(report).diagnoses:
        text.append_text(_explanation(each, width, verbose=verbose)).append("\n")
    text.append_text(_closing(report, verbose=verbose))
    return rendered(text, color=color)


def explanation(diagnosis: Diagnosis, *, width: int, color: bool, verbose: bool = False) -> str:
    """One diagnosis."""
    return rendered(_explanation(harmless(diagnosis), max(width, NARROWEST), verbose=verbose), color=color)


def proposal(
    diagnosis: Diagnosis, diff: str, why: str, *, width: int, color: bool, is_made: bool, verbose: bool = False
) -> str:
    """A diagnosis in a line, its first fix as a patch, and how sure that is.

    A patch that `is_made` can be applied as it stands; one that is only shown is indented, so that nobody applies it.
    """
    width, diagnosis = max(width, NARROWEST), harmless(diagnosis)
    text = headline(diagnosis.code, diagnosis, width, SEVERITY[diagnosis.severity])
    if (place := main_place(diagnosis)) is not NOWHERE:
        text.append_text(_main_line(line_of(place), place.source or "", width))
    for fix in diagnosis.fixes[:1] if diff else diagnosis.fixes:
        text.append_text(fix_sentence("fix" if fix is diagnosis.fixes[0] else "or", fix, width))
        if fix.effects.seen is not None:
            text.append_text(labelled("with the fix", witnessed(fix.effects.seen), width))
        elif fix.effects.walked_ops is not None:
            text.append_text(labelled("with the fix", foretold(fix.effects, verbose=verbose), width))
        if (warning := consequence(fix.effects)) is not None:
            text.append_text(labelled("but", warning, width))
    for note in diagnosis.notes:
        if note.startswith("not `"):  # why it is not the fix that comes to mind
            text.append_text(labelled("note", note, width))
    text.append_text(labelled("result", neutral(why), width))
    indent = "" if is_made else "  "
    for line in patch_lines(diff):
        text.append(f"{indent}{line}\n", DIFF.get(line[:1], ""))
    return rendered(text.append("\n"), color=color)


def _main_line(place: str, source: str, width: int) -> Text:
    """A place with its line, beside it or below where there is no room."""
    room = width - 4 - cell_len(place)
    beside = cell_len(source) <= room or room >= NARROWEST // 2
    text = Text(f"  {place}", "cyan")
    return text.append(
        f"  {shortened(source, room)}\n" if beside else f"\n  {shortened(source, width - 2)}\n", "default"
    )


def _explanation(diagnosis: Diagnosis, width: int, *, verbose: bool) -> Text:
    head = headline(diagnosis.code, diagnosis, width, SEVERITY[diagnosis.severity])
    return explained(diagnosis, head=head, happened=_places(diagnosis, width), width=width, verbose=verbose)


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
    places = max(cell_len(row.place) for row in rows)
    sources = max(cell_len(row.source) for row in rows)
    beside = 4 + places + 2 + sources + 2 + max(len(row.meaning) for row in rows) <= width
    room = width - 6 - places
    text = Text()
    for number, row in enumerate(rows, 1):
        text.append(f"  {number if len(rows) > 1 else ' '} ", QUIET).append(padded(row.place, places), "cyan").append(
            "  "
        )
        if beside:
            text.append(padded(row.source, sources)).append(f"  {row.meaning}\n", "bold")
        elif room < NARROWEST // 2:  # a long name of a file: nothing fits beside it
            text.rstrip()
            text.append(f"\n    {shortened(row.source, width - 4)}\n").append_text(_below(row.meaning, 4, width))
        else:
            text.append(shortened(row.source, room) + "\n").append_text(_below(row.meaning, 6 + places, width))
    return text


def _below(meaning: str, indent: int, width: int) -> Text:
    return Text("".join(f"{'':{indent}}{line}\n" for line in wrapped(meaning, width - indent)), "bold")


def _rows(diagnosis: Diagnosis) -> Iterator[_Row]:
    for _, location, words in explanation_places(diagnosis):
        yield _Row(line_of(location), location.source or "", words)


def closing(summary: Summary, diagnoses: Sequence[Diagnosis], *, width: int, color: bool, verbose: bool = False) -> str:
    """The summary at the end of a run, on one screen: its findings, the costliest first, and what it did in numbers.

    One line where nothing was found.
    """
    width = max(width, NARROWEST)
    text = Text()
    for each in map(harmless, diagnoses):
        text.append_text(_explanation(each, width, verbose=verbose)).append("\n")
    verdict = _verdict(diagnoses)
    last = Text("\n  ".join(wrapped(f"{verdict} ({_numbers(summary, verbose=verbose)})", width - 2)) + "\n")
    last.stylize(QUIET, len(verdict))
    text.append_text(last)
    return rendered(text, color=color)


def _closing(report: Report, *, verbose: bool) -> Text:
    text = Text()
    if report.summary is not None:
        text.append(_numbers(report.summary, verbose=verbose) + "\n", QUIET)
    text.append(_verdict(report.diagnoses) + "\n")
    return text


def _numbers(summary: Summary, *, verbose: bool) -> str:
    parts = [count(summary.passes, "backward pass", "backward passes"), count(summary.steps, "step")]
    if not verbose:
        return ", ".join(parts)
    per_pass = f" ({summary.ops // summary.passes:,} a pass)" if summary.passes else ""
    parts.append(count(summary.ops, "op") + per_pass)
    if summary.peak_saved_bytes is not None:
        parts.append(f"at most {size(summary.peak_saved_bytes)} of saved values")
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
    return f"gradsan: {' and '.join(counts)}: {codes}"
