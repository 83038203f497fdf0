"""Reports as JSON, and back: schema 1. The JSON Schema in the package is derived from the same values."""

from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from gradsan.errors import UnreadableReportError
from gradsan.facts.incident import LONGEST_PATH
from gradsan.report import SCHEMA, Report
from gradsan.show.harmless import decodable, in_json
from gradsan.source.bounded import content_of

# Patterns and limits that Python's types cannot say.
_LIMITS: dict[str, dict[str, dict[str, Any]]] = {
    "Diagnosis": {"code": {"pattern": "^GS[0-9]{3}$"}, "count": {"minimum": 1}, "path": {"maxItems": LONGEST_PATH}},
    "Location": {"line": {"minimum": 1}},
    "Frame": {"line": {"minimum": 1}},
}


def write(report: Report) -> str:
    """The report as indented JSON, one line feed at the end."""
    return in_json(msgspec.json.format(_encoded(report), indent=2).decode()) + "\n"


def _encoded(report: Report) -> bytes:
    try:
        return msgspec.json.encode(report)
    except UnicodeEncodeError:
        return msgspec.json.encode(decodable(report))


def read(path: Path) -> Report:
    """The report in a file; a clear error where it is none."""
    try:
        text = content_of(path)
    except OSError as error:
        raise UnreadableReportError(
            f"cannot read {str(path)!r} ({error.strerror})", "give the file that `gradsan run --output` wrote"
        ) from None
    try:
        return msgspec.json.decode(text, type=Report)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UnreadableReportError(
            f"{str(path)!r} is not a gradsan report of schema {SCHEMA} ({error})",
            "write it again with `gradsan run --format json --output FILE`",
        ) from None


def schema() -> dict[str, Any]:
    """The JSON Schema that ships with the package."""
    shipped = resources.files("gradsan").joinpath(f"schema/report-{SCHEMA}.json").read_bytes()
    derived: dict[str, Any] = msgspec.json.decode(shipped)
    return derived


def derive_schema() -> dict[str, Any]:
    """The JSON Schema as it follows from the values; a test holds the shipped one to it."""
    (_,), definitions = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    for each in definitions.values():
        each["required"] = list(each["properties"])  # what gradsan writes is complete; what it reads need not be
    for name, limits in _LIMITS.items():
        for attribute, limit in limits.items():
            definitions[name]["properties"][attribute] |= limit
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"gradsan report, schema {SCHEMA}",
        "$ref": "#/$defs/Report",
        "$defs": definitions,
    }
