"""Reports as JSON, and back: schema 1. The JSON Schema in the package is derived from the same values."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from gradsan.errors import UnreadableReportError
from gradsan.facts.incident import LONGEST_PATH
from gradsan.report import SCHEMA, Report
from gradsan.show.harmless import decodable, in_json
from gradsan.source.bounded import content_of

# A list of numbers, which is a column of a graph: one line for each would be a file of its own. No string has a break.
_NUMBERS = re.compile(r"\[\n\s+-?\d+(?:,\n\s+-?\d+)*\n\s*\]")
_BREAK = re.compile(r"\n\s*")

# Patterns and limits that Python's types cannot say.
_LIMITS: dict[str, dict[str, dict[str, Any]]] = {
    "Diagnosis": {"code": {"pattern": "^GS[0-9]{3}$"}, "count": {"minimum": 1}, "path": {"maxItems": LONGEST_PATH}},
    "Location": {"line": {"minimum": 1}},
    "Frame": {"line": {"minimum": 1}},
}


def write(report: Report) -> str:
    """The report as indented JSON, one line feed at the end."""
    indented = msgspec.json.format(_encoded(report), indent=2).decode()
    return in_json(_NUMBERS.sub(lambda found: _BREAK.sub(" ", found[0]), indented)) + "\n"


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
        return _within_limits(msgspec.json.decode(text, type=Report))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UnreadableReportError(
            f"{str(path)!r} is not a gradsan report of schema {SCHEMA} ({error})",
            "write it again with `gradsan run --format json --output FILE`",
        ) from None


def _within_limits(report: Report) -> Report:
    for owner, name, value in _fields(report):
        limit = _LIMITS.get(owner, {}).get(name, {})
        is_large_enough = value >= limit["minimum"] if "minimum" in limit else True
        if not is_large_enough or not re.fullmatch(limit.get("pattern", ".*"), str(value), re.DOTALL):
            raise msgspec.ValidationError(f"{owner}.{name} cannot be {value!r}")
    return report


def _fields(value: object) -> Iterator[tuple[str, str, Any]]:
    """Every field of every value in it, with the name of the class that it belongs to."""
    if isinstance(value, tuple):
        for each in value if not _is_column(value) else ():
            yield from _fields(each)
    elif is_dataclass(value):
        for each in fields(value):
            held = getattr(value, each.name)
            yield type(value).__name__, each.name, held
            yield from _fields(held)


def _is_column(value: tuple[object, ...]) -> bool:
    return bool(value) and isinstance(value[0], int)


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
