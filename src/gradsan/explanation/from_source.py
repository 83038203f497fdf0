"""Where the lines that ran were not recorded, the source says what it can.

So it is on Python 3.11 for code that was running when gradsan was installed, such as a script whose own loop trains;
for `install(lines=False)`; and where a debugger stands in the way.
"""

from dataclasses import replace
from pathlib import Path

from gradsan.check.reading import check_content
from gradsan.observe.observed import Unrecorded
from gradsan.report import Diagnosis

_LONGEST = 150_000  # bytes of a file that is read while the program waits: some four thousand lines


def completed_from_source(diagnosis: Diagnosis, unrecorded: Unrecorded) -> Diagnosis:
    """What the source of the failing line says, with what was observed; else the same diagnosis, and less sure."""
    name = Path(unrecorded.file).name
    note = unrecorded.why or (
        f"lines of {name} were not recorded, because it was running when gradsan was installed: "
        f"`gradsan run {name}` sees all of it"
    )
    found = _in_source(diagnosis, unrecorded.file)
    if found is None:
        return replace(diagnosis, confidence="possible", notes=(*diagnosis.notes, note))
    return replace(
        found,
        origin="run",
        confidence="likely",
        error=diagnosis.error,
        used=diagnosis.used,
        freed=diagnosis.freed or found.freed,
        changed=diagnosis.changed or found.changed,
        path=diagnosis.path,
        evidence={**found.evidence, **diagnosis.evidence},
        notes=(*found.notes, note),
    )


def _in_source(diagnosis: Diagnosis, file: str) -> Diagnosis | None:
    """What the checker says of the same failing line, if it says one thing."""
    try:
        source = Path(file).read_bytes()
    except OSError:  # a notebook's cell, a doctest
        return None
    if len(source) > _LONGEST:
        return None
    checked = check_content(file, source)
    used = diagnosis.used
    same = [
        each
        for each in checked.diagnoses
        if each.severity == "error" and used is not None and each.used is not None and each.used.line == used.line
    ]
    return same[0] if len({each.code for each in same}) == 1 else None
