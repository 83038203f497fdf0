"""Schema 1: what machines read, and what gradsan itself reads back."""

import json
from pathlib import Path

import jsonschema
import pytest

from golden_files import Golden
from gradsan.errors import UnreadableReportError
from gradsan.report import Diagnosis, Summary
from gradsan.show.json import derive_schema, read, schema, write
from show.scenes import CARRIED, NEEDLESS, WRAPPED, report


def test_shipped_schema_follows_from_the_values(golden: Golden) -> None:
    """The contract is written once, in `report.py`; `make golden` derives the file."""
    golden.check("../../src/gradsan/schema/report-1.json", json.dumps(derive_schema(), indent=2) + "\n")


@pytest.mark.parametrize("diagnosis", [CARRIED, WRAPPED, NEEDLESS], ids=lambda each: each.code)
def test_written_report_obeys_the_schema_and_reads_back(diagnosis: Diagnosis, tmp_path: Path) -> None:
    """Nothing is lost on the way to a file and back."""
    file = tmp_path / "report.json"
    original = report(diagnosis, summary=Summary(passes=2, steps=1, ops=30))

    file.write_text(write(original), encoding="utf-8")

    jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), schema())
    assert read(file) == original


def test_golden_json(golden: Golden) -> None:
    """What a coding assistant gets to see."""
    golden.check("json/carried_state.json", write(report(CARRIED)))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"schema": 2}, "schema"),
        ({"diagnoses": [{"code": "GS103"}]}, "diagnoses"),
        ({"argv": "train.py"}, "argv"),
    ],
)
def test_what_is_no_report_is_refused_with_its_reason(change: dict[str, object], place: str, tmp_path: Path) -> None:
    """The message says where the file goes wrong."""
    file = tmp_path / "report.json"
    file.write_text(json.dumps(json.loads(write(report())) | change), encoding="utf-8")

    with pytest.raises(UnreadableReportError, match=place):
        read(file)


def test_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    """What, where, what to do."""
    with pytest.raises(UnreadableReportError, match=r"cannot read .*none\.json.*give the file"):
        read(tmp_path / "none.json")
