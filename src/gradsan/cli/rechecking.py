"""Looks at source again as it would be with some files changed: does it still show the problem?"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gradsan.causes.silence import places_of
from gradsan.check.diagnoses import merged
from gradsan.check.running import check_files
from gradsan.fix.proving import kind_of
from gradsan.fix.trials import at_home, source_with
from gradsan.report import Diagnosis

Changed = Mapping[str, bytes]


class Rechecker:
    """Knows what the source showed when the command began."""

    def __init__(self, root: Path, found: Iterable[Diagnosis]) -> None:
        self._root = root
        self._found = [kind_of(each) for each in found]

    def persists(self, diagnosis: Diagnosis, changed: Changed) -> bool:
        """Whether as many problems of this kind are left. What only a run has shown, only a run can refute."""
        kind = kind_of(diagnosis)
        if kind not in self._found:
            return False
        left = [kind_of(each) for each in self._again(diagnosis, changed)]
        return left.count(kind) >= self._found.count(kind)

    def renewed(self, diagnosis: Diagnosis, changed: Changed) -> Diagnosis | None:
        """The diagnosis with the lines that it has now; None where it is gone."""
        if not changed:
            return diagnosis
        return next((each for each in self._again(diagnosis, changed) if kind_of(each) == kind_of(diagnosis)), None)

    def _again(self, diagnosis: Diagnosis, changed: Changed) -> list[Diagnosis]:
        files = {*changed, *(place.file for place in places_of(diagnosis))}
        with source_with(changed, self._root) as scratch:
            outcome = check_files([str(scratch / file) for file in files if not Path(file).is_absolute()], None, jobs=1)
            found = merged(each for one in outcome.checked for each in one.diagnoses)
            return [at_home(each, (scratch, self._root)) for each in found]
