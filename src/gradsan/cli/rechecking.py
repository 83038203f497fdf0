"""Looks at source again as it would be with some files changed: does it still show the problem?"""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradsan.causes.silence import places_of
from gradsan.check.diagnoses import merged
from gradsan.check.running import check_files
from gradsan.fix.scratch import Layout
from gradsan.report import Diagnosis


class Rechecker:
    """Knows what the source showed when the command began."""

    def __init__(self, root: Path, found: Iterable[Diagnosis]) -> None:
        self._root = root
        self._found = [_key(each) for each in found]

    def persists(self, diagnosis: Diagnosis, changed: Mapping[str, bytes]) -> bool:
        """Whether as many problems of this kind are left. What only a run has shown, only a run can refute."""
        key = _key(diagnosis)
        if key not in self._found:
            return False
        files = {*changed, *(place.file for place in places_of(diagnosis))}
        with tempfile.TemporaryDirectory(prefix="gradsan-", ignore_cleanup_errors=True) as folder:
            scratch = Path(folder).resolve()
            Layout(self._root).lay_out(scratch, changed)
            outcome = check_files([str(scratch / file) for file in files if not Path(file).is_absolute()], None, jobs=1)
            left = [_key(each) for each in merged(each for one in outcome.checked for each in one.diagnoses)]
        return left.count(key) >= self._found.count(key)


def _key(diagnosis: Diagnosis) -> tuple[str, str, str, str]:
    """The same while lines shift and are rewritten: the cause, the name, and the function."""
    place = next(iter(places_of(diagnosis)), None)
    name = "" if diagnosis.culprit is None else diagnosis.culprit.name
    where = ("", "") if place is None else (Path(place.file).name, place.function or "")
    return diagnosis.code, name, *where
