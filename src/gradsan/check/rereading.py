"""A program followed as it would be with an edit: what an expression may be at a place, and what the edit leads to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradsan.check.builtin_calls import REVEALING
from gradsan.check.followed_paths import Reader
from gradsan.check.interpreter import deep_recursion
from gradsan.check.shown import Shown
from gradsan.check.troubles import Misfit
from gradsan.facts.held import NOTHING, Held
from gradsan.report import Diagnosis
from gradsan.source.disk import load, reading_instead

_PATIENCE = 30_000  # expressions: a question about one value must not take longer than the answer is worth

Files = Mapping[str, bytes]  # what files would say, by their absolute paths


@dataclass(frozen=True, slots=True)
class Reading:
    """What following a program showed."""

    diagnoses: tuple[Diagnosis, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    trained: frozenset[str] = frozenset()
    complete: bool = True


def revealed(paths: Iterable[Path], changed: Files) -> Held:
    """What the expressions may be that the changed files put into `__revealed__(…)`.

    The paths are the programs that may lead there; the first that does answers. Nothing, where none does.
    """
    for path in paths:
        shown = _follow(path, changed, _PATIENCE)
        if shown is not None and shown.revealed != NOTHING:
            return shown.revealed
    return NOTHING


def reread(path: Path, changed: Files) -> Reading:
    """What a program would come to; nothing, where it cannot be read."""
    from gradsan.check.diagnoses import diagnoses_of

    with reading_instead(changed):
        shown = _follow(path, changed)
        if shown is None:
            return Reading(complete=False)
        found = tuple(diagnoses_of(shown, {}))
    return Reading(found, tuple(shown.misfits), frozenset(shown.trained), shown.complete)


def _follow(path: Path, changed: Files, patience: int | None = None) -> Shown | None:
    with reading_instead(changed), deep_recursion():
        source = load(str(path))
        if source is None:
            return None
        reader = Reader(source) if patience is None else Reader(source, most=patience)
        try:
            return reader.read()
        except Exception:  # noqa: BLE001 # whatever a file holds: then nothing is known of it
            return None


__all__ = ["REVEALING", "Reading", "reread", "revealed"]
