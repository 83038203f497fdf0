"""GitLab's code quality report: JSON in the format of Code Climate."""

import json

from gradsan.report import Report
from gradsan.show.harmless import in_json
from gradsan.show.places import main_place

_SEVERITY = {"error": "critical", "warning": "major"}


def gitlab(report: Report) -> str:
    """A list with one entry a diagnosis."""
    entries = [
        {
            "description": f"{each.code} {each.name}: {each.message}",
            "check_name": each.code,
            "fingerprint": each.fingerprint,
            "severity": _SEVERITY[each.severity],
            "location": {
                "path": main_place(each).file,
                "lines": {"begin": main_place(each).line, "end": main_place(each).end_line or main_place(each).line},
            },
        }
        for each in report.diagnoses
    ]
    return in_json(json.dumps(entries, indent=2, ensure_ascii=False)) + "\n"
