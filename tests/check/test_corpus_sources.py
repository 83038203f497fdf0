"""Programs modelled on public reports, read and not run: most causes are found, and fixed programs are left alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradsan.check.reading import check_content
from gradsan.report import Diagnosis

CORPUS = Path(__file__).parent.parent / "corpus"
LABELS: list[dict[str, Any]] = json.loads((CORPUS / "labels.json").read_text(encoding="utf-8"))
WRONG = [label for label in LABELS if label["cause"]]
CLEAN = [label["entry"] for label in LABELS if not label["cause"]]
CLEAN += [label["fixed"] for label in LABELS if label["fixed"]]

# What source does not show, or is not yet followed. Each is a known miss, not a wish.
UNSEEN = {
    "so-035-cached-around-epoch": "the cache is a context manager of torch's",
}


def found(entry: str) -> list[Diagnosis]:
    """What a default check reports."""
    path = CORPUS / entry
    return [each for each in check_content(str(path), path.read_bytes()).diagnoses if each.confidence != "possible"]


@pytest.mark.parametrize("label", WRONG, ids=lambda label: label["id"])
def test_cause_is_found_in_source(label: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """The right cause, at the call that fails."""
    if label["id"] in UNSEEN:
        request.applymarker(pytest.mark.xfail(reason=UNSEEN[label["id"]], strict=True))

    diagnoses = found(label["entry"])

    assert {each.code for each in diagnoses} == {label["cause"]}
    if label["second_backward"]:
        assert label["second_backward"]["line"] in {each.used.line for each in diagnoses if each.used}


@pytest.mark.parametrize("entry", CLEAN)
def test_clean_program_is_left_alone(entry: str) -> None:
    """A false alarm is worse than a miss."""
    assert found(entry) == []
