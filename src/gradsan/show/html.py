"""Reports as one page: a file that needs no server and no network, and runs nothing but gradsan's own script.

The script and its styles are built from `page/` and ship with the package. What the page shows is put beside them as
compressed data, which is no script and has no letter that could end one. The page allows no request to anybody.
"""

import base64
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import msgspec

from gradsan.causes import cause
from gradsan.facts.graph_memory import GraphMemory, held_under
from gradsan.facts.location import Location, line_of
from gradsan.lifecycle.amounts import count, size
from gradsan.report import Details, Diagnosis, Fix, RaisedError, Report, Summary
from gradsan.show.explained import memory
from gradsan.show.harmless import decodable, harmless
from gradsan.show.places import explanation_places
from gradsan.show.typography import changed_lines

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>gradsan report</title>
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript. It makes no request, and runs nothing but gradsan's own script.</noscript>
<script type="application/octet-stream" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class _Place:
    words: str
    where: str
    at: Location
    is_main: bool


@dataclass(frozen=True, slots=True)
class _Edit:
    where: str
    lines: tuple[str, ...]  # each behind `- `, `+ ` or two blanks


@dataclass(frozen=True, slots=True)
class _Fix:
    fix: Fix
    edits: tuple[_Edit, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    code: str
    name: str
    severity: str
    confidence: str
    origin: str
    message: str
    fingerprint: str
    count: int
    error: RaisedError | None
    places: tuple[_Place, ...]
    fixes: tuple[_Fix, ...]
    notes: tuple[str, ...]
    holder: str  # the name that a silent problem is about; empty: none, or an error
    held: GraphMemory | None  # by that name, as the timeline of the run shows it
    now: str  # how much of the graph a silent problem is about, in a sentence; empty: not known, or an error
    then: str  # what becomes of that with the fix; empty: not known
    about: tuple[str, ...]  # paragraphs on what kind of problem it is


@dataclass(frozen=True, slots=True)
class _Run:
    title: str
    rank: int | None
    versions: str
    summary: Summary | None
    findings: tuple[_Finding, ...]
    details: Details | None


def html(report: Report, *others: Report) -> str:
    """One page for a report, or for several of one run: of its ranks, trials or tests."""
    shown = [_run(harmless(decodable(each))) for each in (report, *others)]
    packed = gzip.compress(msgspec.json.encode(shown), mtime=0)
    script, style = bundled("page.js"), bundled("page.css")
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    return _PAGE.format(policy=policy, style=style, data=base64.b64encode(packed).decode(), script=script)


@cache
def bundled(name: str) -> str:
    """A file that was built from `page/`."""
    return resources.files("gradsan").joinpath("show", "bundle", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """By which a policy names what may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _run(report: Report) -> _Run:
    versions = [f"gradsan {report.gradsan}", f"Python {report.python}"]
    versions += [] if report.torch is None else [f"torch {report.torch}"]
    return _Run(
        title=" ".join(report.argv),
        rank=report.rank,
        versions=", ".join(versions),
        summary=report.summary,
        findings=tuple(_finding(each, report.details) for each in report.diagnoses),
        details=report.details,
    )


def _finding(diagnosis: Diagnosis, details: Details | None) -> _Finding:
    name = diagnosis.culprit.name if diagnosis.culprit is not None and diagnosis.severity == "warning" else ""
    timeline = None if details is None else details.timeline
    return _Finding(
        code=diagnosis.code,
        name=diagnosis.name,
        severity=diagnosis.severity,
        confidence=diagnosis.confidence,
        origin=diagnosis.origin,
        message=diagnosis.message,
        fingerprint=diagnosis.fingerprint,
        count=diagnosis.count,
        error=diagnosis.error,
        places=tuple(_places(diagnosis)),
        fixes=tuple(map(_fix, diagnosis.fixes)),
        notes=diagnosis.notes,
        holder=name,
        held=held_under(timeline.samples, timeline.holders, name) if timeline is not None and name else None,
        now=_now(diagnosis) if diagnosis.severity == "warning" else "",
        then="With the fix, each `backward()` frees them itself." if _left_behind(diagnosis) else "",
        about=cause(diagnosis.code).explanation(),
    )


def _now(diagnosis: Diagnosis) -> str:
    if left := _left_behind(diagnosis):
        return f"In the run, {left}, until the last tensor that led to them was gone."
    return f"The problem concerns {held}." if (held := memory(diagnosis)) else ""


def _left_behind(diagnosis: Diagnosis) -> str:
    """What passes kept and no other pass used: gone when the next begins, so no timeline shows it."""
    passes, saved = (diagnosis.evidence.get(each) for each in ("retained_passes", "saved_bytes"))
    if not (isinstance(passes, int) and isinstance(saved, int) and saved):
        return ""
    each = "" if passes == 1 else " each"
    return (
        f"{count(passes, 'backward pass', 'backward passes')} left about {size(saved)} of saved values{each} in memory"
    )


def _places(diagnosis: Diagnosis) -> Iterator[_Place]:
    for role, location, words in explanation_places(diagnosis):
        yield _Place(words, line_of(location), location, is_main=role == "used")


def _fix(fix: Fix) -> _Fix:
    return _Fix(fix, tuple(_Edit(each.where, _lines(each.old, each.new)) for each in fix.edits))


def _lines(old: str, new: str) -> tuple[str, ...]:
    return tuple(changed_lines(_split(old), _split(new)))


def _split(text: str) -> Sequence[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]
