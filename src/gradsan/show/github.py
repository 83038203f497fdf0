"""GitHub workflow commands: annotations on the lines of a pull request."""

from gradsan.facts.location import Location
from gradsan.report import Diagnosis, Report
from gradsan.show.harmless import harmless
from gradsan.show.places import explanation_places, main_place, main_role, written


def github(report: Report) -> str:
    """One command a diagnosis."""
    return "".join(f"{_command(each)}\n" for each in harmless(report).diagnoses)


def _command(diagnosis: Diagnosis) -> str:
    place = main_place(diagnosis)
    properties = {
        "file": place.file,
        "line": place.line,
        **_columns(place),
        "title": f"{diagnosis.code} {diagnosis.name}",
    }
    written_properties = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{diagnosis.severity} {written_properties}::{_text(_message(diagnosis))}"


def _message(diagnosis: Diagnosis) -> str:
    main = main_role(diagnosis)
    others = [f"{words}: {written(at)}" for role, at, words in explanation_places(diagnosis) if role != main]
    fixes = [f"fix: {diagnosis.fixes[0].title}"] if diagnosis.fixes else []
    return "\n".join([diagnosis.message, *others, *fixes])


def _columns(place: Location) -> dict[str, int]:
    columns = {"endLine": place.end_line or place.line}
    if (
        place.column is not None and (place.end_line or place.line) == place.line
    ):  # GitHub takes columns of one line only
        columns["col"] = place.column
        if place.end_column is not None:
            columns["endColumn"] = place.end_column
    return columns


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
