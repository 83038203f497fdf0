"""SARIF 2.1.0: for code scanning in GitHub, Azure, VS Code and their like."""

import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from gradsan.causes import cause
from gradsan.causes.cause import Cause
from gradsan.facts.location import Location
from gradsan.report import Diagnosis, Fix, Report
from gradsan.show.addresses import installed, on_site
from gradsan.show.harmless import in_json
from gradsan.show.places import explanation_places, main_place, main_role

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL = {"error": "error", "warning": "warning"}
_RANK = {"certain": 90.0, "likely": 60.0, "possible": 30.0}


def sarif(report: Report, docs_url: str | None = None) -> str:
    """One run, with the page of every code that was found, and the explanation of each diagnosis as its code flow.

    `docs_url`: where the site is; None: the pages of the codes are those in the package itself.
    """
    codes = sorted({each.code for each in report.diagnoses})
    run = {
        "tool": {
            "driver": {
                "name": "gradsan",
                "version": report.gradsan,
                "rules": [_rule(cause(code), docs_url) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes) for each in report.diagnoses],
    }
    whole = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return in_json(json.dumps(whole, indent=2, ensure_ascii=False)) + "\n"


def _rule(known: type[Cause], docs_url: str | None) -> dict[str, Any]:
    page = installed(known.code)
    address = on_site(known.code, docs_url) or (page and page.as_uri())
    return {
        "id": known.code,
        "name": "".join(part.capitalize() for part in known.name.split("-")),
        "shortDescription": {"text": known.summary},
        "fullDescription": {"text": "\n\n".join(known.explanation())},
        "help": {
            "text": f"{known.fix}\n\n{known.unless}",
            **({} if page is None else {"markdown": page.read_text(encoding="utf-8")}),
        },
        **({} if address is None else {"helpUri": address}),
        "defaultConfiguration": {"level": _LEVEL[known.severity]},
        "properties": {"tags": ["pytorch", "autograd"]},
    }


def _result(diagnosis: Diagnosis, codes: list[str]) -> dict[str, Any]:
    main = main_role(diagnosis)
    places = list(explanation_places(diagnosis))
    return {
        "ruleId": diagnosis.code,
        "ruleIndex": codes.index(diagnosis.code),
        "level": _LEVEL[diagnosis.severity],
        "rank": _RANK[diagnosis.confidence],
        "message": {"text": diagnosis.message},
        "locations": [_location(main_place(diagnosis))],
        "relatedLocations": [
            {"id": number, **_location(at), "message": {"text": words}}
            for number, (role, at, words) in enumerate(places, 1)
            if role != main
        ],
        "codeFlows": [
            {"threadFlows": [{"locations": [
                {"location": {**_location(at), "message": {"text": words}}} for _, at, words in places
            ]}]}
        ],
        "fixes": [_fix(each) for each in diagnosis.fixes if _can_be_said(each)],
        "partialFingerprints": {"gradsan/v1": diagnosis.fingerprint},
        "properties": {"confidence": diagnosis.confidence},
    }  # fmt: skip


def _can_be_said(fix: Fix) -> bool:
    """Whether there are edits, and of lines of files: SARIF does not know the cells of a notebook."""
    return bool(fix.edits) and all(each.cell is None for each in fix.edits)


def _fix(fix: Fix) -> dict[str, Any]:
    """Whole lines are replaced: the region ends where the line after them begins."""
    files = dict.fromkeys(each.file for each in fix.edits)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(file)},
                "replacements": [
                    {
                        "deletedRegion": {"startLine": each.line, "startColumn": 1, "endLine": each.end_line + 1},
                        "insertedContent": {"text": f"{each.new}\n"},
                    }
                    for each in fix.edits
                    if each.file == file
                ],
            }
            for file in files
        ],
    }


def _uri(file: str) -> str:
    return quote(os.fsencode(PurePath(file).as_posix()))


def _location(place: Location) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.line, "endLine": place.end_line or place.line}
    if place.column is not None:
        region["startColumn"] = place.column
    if place.end_column is not None:
        region["endColumn"] = place.end_column
    if place.source:
        region["snippet"] = {"text": place.source}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}
