"""What `gradsan check` prints."""

from collections import Counter
from collections.abc import Sequence

from gradsan.causes.choosing import is_sure
from gradsan.cli.formats import Format, arguments, rendered
from gradsan.entry.screen import Screen
from gradsan.explanation.own_report import report_of
from gradsan.facts.location import Location
from gradsan.lifecycle.amounts import count
from gradsan.report import Details, Diagnosis


def as_report(found: Sequence[Diagnosis], form: Format, docs_url: str | None) -> str:
    """For another program, or as a page."""
    return rendered(report_of(found, argv=arguments(), details=_details(found, form)), form, docs_url)


def _details(found: Sequence[Diagnosis], form: Format) -> Details | None:
    """A page shows the source."""
    if form != "html":
        return None
    from gradsan.explanation.detailing import details
    from gradsan.explanation.findings import Conclusion

    return details(found, {}, Conclusion())


def as_text(found: Sequence[Diagnosis], screen: Screen) -> str:
    """For a reader: every finding with its fix and its lines."""
    if not found:
        return ""
    from gradsan.show.code_frames import framed

    return framed(report_of(found), width=screen.width, color=screen.color, lines=_line_of)


def closing(found: Sequence[Diagnosis], files: int) -> str:
    """The last line: how much was found, and in how many files it was looked for."""
    looked = count(files, "file")
    if not found:
        return f"gradsan: nothing found in {looked}\n"
    errors = sum(each.severity == "error" for each in found)
    parts = [count(n, word) for n, word in ((errors, "error"), (len(found) - errors, "warning")) if n]
    codes = ", ".join(sorted({each.code for each in found}))
    return f"gradsan: {' and '.join(parts)} in {looked}: {codes}\n"


def statistics(found: Sequence[Diagnosis]) -> str:
    """How often each code was found, and which of them `--fix` can fix."""
    counts = Counter((each.code, each.name) for each in found)
    fixable = {each.code for each in found if is_fixable(each)}
    lines = [
        f"{number:>6}  {'[*]' if code in fixable else '   '}  {code} {name}\n"
        for (code, name), number in sorted(counts.items())
    ]
    legend = "[*] some or all of these can be fixed with `gradsan check --fix`\n"
    return "".join(lines) + (legend if fixable else "")


def is_fixable(diagnosis: Diagnosis) -> bool:
    """Whether there is an edit that may be written without a run that proves it."""
    return any(fix.edits and is_sure(diagnosis, fix) for fix in diagnosis.fixes)


def _line_of(place: Location) -> str | None:
    from gradsan.source.disk import load

    source = load(place.file)
    line = 0 if source is None else source.line_in(place.cell, place.line)
    return None if source is None or line > len(source.lines) else source.lines[line - 1].rstrip("\r\n")
