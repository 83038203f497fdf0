"""The values every entry point fills and every renderer reads: one diagnosis, and a report of many.

They are schema 1, the public JSON contract; `schema/report-1.json` is derived from them.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gradsan.facts.culprit import Culprit, Holder
from gradsan.facts.details import Details
from gradsan.facts.graph_memory import GraphMemory
from gradsan.facts.location import Location, in_cell

__all__ = [
    "Confidence",
    "Culprit",
    "Details",
    "Diagnosis",
    "Edit",
    "Effects",
    "Fix",
    "FixKind",
    "GraphMemory",
    "Holder",
    "OpState",
    "Origin",
    "PathOp",
    "RaisedError",
    "Report",
    "Safety",
    "Seen",
    "Severity",
    "Summary",
]

SCHEMA: Final = 1  # 1: first release.
_COLUMNS = 80  # of a text that is asked for by `str`

Severity = Literal["error", "warning"]
Origin = Literal["run", "check"]
Confidence = Literal["certain", "likely", "possible"]
OpState = Literal["live", "freed", "retained"]
Safety = Literal["same-gradients", "changes-gradients"]
FixKind = Literal[
    "recompute",
    "combine-losses",
    "detach",
    "reset-state",
    "no-grad",
    "item",
    "move-into-loop",
    "reorder",
    "remove-backward",
    "retain-graph",
    "create-graph",
    "remove-retain",
    "zero-grad",
    "clone",
    "re-attach",
    "unfreeze",
    "setting",
    "advice",
]


@dataclass(frozen=True, slots=True)
class RaisedError:
    """The exception as PyTorch raised it."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class PathOp:
    """One op on the way from the loss into the freed part."""

    op: str  # PyTorch's name of the op, "MulBackward0"
    state: OpState
    module: str | None = None  # dotted name of the module whose forward created it
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the lines `line` to `end_line` of a file, which read `old` now, with `new`."""

    file: str
    line: int
    end_line: int  # inclusive
    old: str
    new: str
    cell: int | None = None  # from 1, among the code cells of a notebook; then lines are those of the cell

    @property
    def where(self) -> str:
        """`file:line`, or `file:In[cell]:line` in a notebook, of the first line that is replaced."""
        return f"{in_cell(self.file, self.cell)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What two runs showed, one with a fix and one as the program is, when their first backward passes began."""

    passes: int  # so many of them
    with_fix: GraphMemory  # at most, all that was alive; what every step adds, of what grows without the fix
    without_fix: GraphMemory


@dataclass(frozen=True, slots=True)
class Effects:
    """What a fix does to the program: seen where that was run, else predicted where its edit is what was simulated."""

    saved_bytes: int | None = None  # kept at the peak, with the fix applied; where `seen`, of the passes looked at
    parameters_cut_off: tuple[str, ...] = ()  # they would receive no gradient from the failing pass any more
    kept_bytes: int | None = None  # still kept when the pass is over, where predicted: what every step adds
    walked_ops: int | None = None  # by the pass
    parameters_changed: tuple[str, ...] | None = None  # they would receive another gradient; None: not to be known
    ends_error: bool | None = None  # None: not to be known
    seen: Seen | None = None  # None: not run, or nothing was seen to grow without it


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to fix a diagnosis; a diagnosis lists them best first."""

    kind: FixKind
    title: str
    safety: Safety
    edits: tuple[Edit, ...] = ()
    diff: str = ""
    effects: Effects = field(default_factory=Effects)
    verified: bool | None = None  # None: not tried


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """One problem: what happened, where, through which name, how sure, and how to fix it. `str` is its explanation."""

    code: str
    name: str
    severity: Severity
    origin: Origin
    confidence: Confidence
    message: str  # one sentence a beginner understands
    fingerprint: str = ""  # stable while lines shift: for baselines, SARIF, and folding ranks
    count: int = 1  # how often the same thing was seen
    error: RaisedError | None = None
    used: Location | None = None  # the pass that failed, or that walks too far
    freed: Location | None = None  # the pass that consumed the graph
    made: Location | None = None  # where the consumed part was built
    enters: Location | None = None  # where it entered the later forward
    changed: Location | None = None  # the edit or optimizer step
    cut: Location | None = None  # where the graph was cut
    held: Location | None = None  # the line that feeds the holder
    culprit: Culprit | None = None
    path: tuple[PathOp, ...] = ()  # from the loss inwards, 40 entries at most
    elided: int = 0  # entries left out of the middle of `path`
    evidence: Mapping[str, int | float | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def __str__(self) -> str:
        shown: str = _text().explanation(self, width=_COLUMNS, color=False)
        return shown

    def _repr_html_(self) -> str:
        shown: str = _notebook().explanation(self)
        return shown

    def __repr__(self) -> str:
        place = self.used or self.held or self.cut or self.made or self.changed
        at = "" if place is None else f" at {place.file}:{place.line}"
        return f"<Diagnosis {self.code} {self.name}{at}>"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did, in numbers."""

    passes: int
    steps: int
    ops: int  # walked by all passes together
    peak_saved_bytes: int | None = None
    retained_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """Everything one run or one check found. `str` is its text."""

    schema: Literal[1] = SCHEMA
    gradsan: str  # gradsan's version
    python: str
    torch: str | None  # None in a report of `check`
    argv: tuple[str, ...]
    rank: int | None = None
    summary: Summary | None = None
    diagnoses: tuple[Diagnosis, ...] = ()
    details: Details | None = None  # what a page shows besides; None: nobody asked for it

    def __str__(self) -> str:
        shown: str = _text().terminal(self, width=_COLUMNS, color=False)
        return shown

    def _repr_html_(self) -> str:
        shown: str = _notebook().report(self)
        return shown

    def __repr__(self) -> str:
        return f"<Report of {len(self.diagnoses)} diagnos{'is' if len(self.diagnoses) == 1 else 'es'}>"


def _notebook() -> Any:  # noqa: ANN401 # a module
    """The renderer for notebooks, which ask their values for it."""
    return importlib.import_module("gradsan.show.notebook")


def _text() -> Any:  # noqa: ANN401 # a module
    """The renderer of text. These values know nothing of renderers, but for what `print` shows of them."""
    return importlib.import_module("gradsan.show.text")
