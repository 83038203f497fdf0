"""Follows source again as it would be with some files changed: is the problem gone, and is nothing else broken?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gradsan.causes.silence import places_of
from gradsan.check.diagnoses import merged
from gradsan.check.rereading import Reading, reread
from gradsan.check.troubles import Misfit
from gradsan.check.workers import Exceeded, within_budget
from gradsan.facts.location import line_of
from gradsan.fix.proving import beyond, kind_of
from gradsan.fix.reading.program import frames
from gradsan.report import Diagnosis

Changed = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the source does not prove an edit; `fatal` where it shows that the edit is wrong."""

    why: str
    fatal: bool


class Rechecker:
    """Knows what the source showed when the command began."""

    def __init__(self, root: Path, found: Iterable[Diagnosis], named: Iterable[Diagnosis] = ()) -> None:
        self._root = root
        self._found = [kind_of(each) for each in found]
        self._named = list(named)  # by a report, which knows only what the program came to
        self._read: dict[str, Reading] = {}  # as the files are

    def persists(self, diagnosis: Diagnosis, changed: Changed) -> bool:
        """Whether as many problems of this kind are left. What only a run has shown, only a run can refute."""
        kind = kind_of(diagnosis)
        if kind not in self._found:
            return False
        left = [kind_of(each) for each in self._again(diagnosis, changed)]
        return left.count(kind) >= self._found.count(kind)

    def found_again(self, diagnosis: Diagnosis, changed: Changed) -> Diagnosis | None:
        """The diagnosis with the lines that it has now; None where it is gone."""
        if not changed:
            return diagnosis
        return next((each for each in self._again(diagnosis, changed) if kind_of(each) == kind_of(diagnosis)), None)

    def obstacle(self, diagnosis: Diagnosis, changed: Changed) -> Obstacle | None:
        """Why the source alone does not prove that the changed files end the problem and break nothing; None: it does.

        The source must show the problem now, and with the change neither it nor a new one; nothing that was trained may
        lose its gradient, and no method of tensors may be called on what is none, or on what nobody knows.
        """
        files = sorted({*changed, *_files(diagnosis)})
        pairs = [(self._as_it_is(file), self._changed(file, changed)) for file in files]
        shown = [each for before, _ in pairs for each in before.diagnoses]
        if not any(_is_same(each, diagnosis) for each in shown):
            return Obstacle("the source alone does not show the problem", fatal=False)
        found = [
            each for before, after in pairs for each in (*_obstacles(diagnosis, before, after), *self._left(after))
        ]
        return min(found, key=lambda each: not each.fatal, default=None)

    def _left(self, after: Reading) -> Iterator[Obstacle]:
        """The errors that the program would come to next, where a report names others."""
        for each in after.diagnoses if self._named else ():
            if each.severity == "error" and not any(_is_same(each, one) for one in self._named):
                yield Obstacle(f"the source shows {each.code} {each.name} behind it", fatal=False)

    def _as_it_is(self, file: str) -> Reading:
        if file not in self._read:
            self._read[file] = self._changed(file, {})
        return self._read[file]

    def _changed(self, file: str, changed: Changed) -> Reading:
        root = self._root.resolve()
        files = {str(root / name): content for name, content in changed.items()}
        answer = within_budget(lambda: reread(root / file, files))
        return Reading(complete=False) if isinstance(answer, Exceeded) else answer

    def _again(self, diagnosis: Diagnosis, changed: Changed) -> list[Diagnosis]:
        files = {*changed, *(place.file for place in places_of(diagnosis))}
        return list(merged(each for file in sorted(files) for each in self._changed(file, changed).diagnoses))


def _files(diagnosis: Diagnosis) -> set[str]:
    """The files that the stacks of a diagnosis lead through."""
    return {
        frame.file for place in places_of(diagnosis) for frame in frames(place) if not Path(frame.file).is_absolute()
    }


def _obstacles(diagnosis: Diagnosis, before: Reading, after: Reading) -> Iterator[Obstacle]:
    if before.complete and not after.complete:
        yield Obstacle("the changed source cannot be followed to its end", fatal=False)
    likely = [each for each in after.diagnoses if each.confidence != "possible"]
    if any(kind_of(each) == kind_of(diagnosis) for each in beyond(likely, _others(before, diagnosis))):
        yield Obstacle("the source would still have the problem", fatal=True)
    if lost := sorted(before.trained - after.trained):
        yield Obstacle(f"`{lost[0].partition('.')[0]}` would receive no gradient any more", fatal=False)
    for new in beyond(likely, before.diagnoses):
        if not _costs_memory_only(new):
            yield Obstacle(f"the source would have another problem, {new.code} {new.name}", fatal=False)
    for misfit in _new_misfits(before, after):
        if misfit.sure:
            yield Obstacle(f"`{misfit.call}` would fail: it is not called on a tensor in every case", fatal=True)
        else:
            yield Obstacle(f"the source does not show what `{misfit.call}` is called on", fatal=False)


def _costs_memory_only(silent: Diagnosis) -> bool:
    """Whether a problem changes nothing that is computed: its own fix leaves all gradients as they are."""
    return silent.severity != "error" and bool(silent.fixes) and silent.fixes[0].safety == "same-gradients"


def _new_misfits(before: Reading, after: Reading) -> list[Misfit]:
    """The calls that do not fit, more of a kind than there were: those for certain first."""
    known = Counter((each.file, each.call, each.sure) for each in before.misfits)
    new: list[Misfit] = []
    for each in sorted(after.misfits, key=lambda one: not one.sure):
        known[each.file, each.call, each.sure] -= 1
        if known[each.file, each.call, each.sure] < 0:
            new.append(each)
    return new


def _others(before: Reading, diagnosis: Diagnosis) -> list[Diagnosis]:
    """What the source showed besides a problem."""
    same = next((each for each in before.diagnoses if kind_of(each) == kind_of(diagnosis)), None)
    return [each for each in before.diagnoses if each is not same]


def _is_same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether source and run report one problem: one cause, at one line."""
    ours, theirs = one.used or one.held or one.made, other.used or other.held or other.made
    if ours is None or theirs is None:
        return one.code == other.code
    return one.code == other.code and line_of(ours) == line_of(theirs)
