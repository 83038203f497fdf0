"""Programs modelled on public reports, run under the real command: right about every one, silent on the fixed ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_runs import CORPUS, CorpusRuns, shared_folder
from golden_files import Golden

LABELS: list[dict[str, Any]] = json.loads((CORPUS / "labels.json").read_text(encoding="utf-8"))
RAISING = [label for label in LABELS if label["outcome"] == "raises"]
SILENT = [label for label in LABELS if label["outcome"] == "silent"]
CLEAN = [label["entry"] for label in LABELS if label["outcome"] == "clean"]
CLEAN += [label["fixed"] for label in LABELS if label["fixed"]]

ROLES = ("used", "made", "enters", "changed", "cut", "held")


@pytest.fixture(scope="session")
def ended(tmp_path_factory: pytest.TempPathFactory) -> CorpusRuns:
    """How every program ended."""
    return CorpusRuns(shared_folder(tmp_path_factory, "corpus"))


@pytest.mark.parametrize("label", RAISING, ids=lambda label: label["id"])
def test_error_is_explained(label: dict[str, Any], ended: CorpusRuns) -> None:
    """One diagnosis: the right cause, the failing call, the pass that freed the graph, and a fix that fixes it."""
    outcome = ended[label["entry"]]
    diagnosis = outcome.diagnosis

    assert diagnosis["code"] == label["cause"]
    assert place(diagnosis["used"]) == place(label["second_backward"])
    assert place(diagnosis["freed"]) == place(label["first_backward"])
    assert diagnosis["fixes"][0]["kind"] in label["fix"]
    assert f"{label['cause']} {diagnosis['name']}: " in outcome.stderr


@pytest.mark.parametrize("label", RAISING, ids=lambda label: label["id"])
def test_culprit_is_named(label: dict[str, Any], ended: CorpusRuns) -> None:
    """The name through which the graph survived, as the user would write it."""
    culprit = ended[label["entry"]].diagnosis["culprit"]

    assert culprit is not None
    assert culprit["name"] in label["culprit"]["names"]


@pytest.mark.parametrize("label", SILENT, ids=lambda label: label["id"])
def test_silent_problem_is_found(label: dict[str, Any], ended: CorpusRuns) -> None:
    """One diagnosis at exit: the right cause, the right name, a line that belongs to it, a fix that fixes it."""
    outcome = ended[label["entry"]]
    diagnosis = outcome.diagnosis

    assert outcome.status == 0
    assert diagnosis["code"] == label["cause"]
    assert diagnosis["culprit"]["name"] in label["culprit"]["names"]
    assert {diagnosis[role]["line"] for role in ROLES if diagnosis[role]} & set(label["culprit"]["lines"])
    assert diagnosis["fixes"][0]["kind"] in label["fix"]


@pytest.mark.parametrize("entry", CLEAN)
def test_program_that_runs_is_left_alone(entry: str, ended: CorpusRuns) -> None:
    """A false alarm is worse than a miss."""
    outcome = ended[entry]

    assert outcome.status == 0
    assert outcome.report["diagnoses"] == []


def test_answers_are_on_record(ended: CorpusRuns, golden: Golden) -> None:
    """Cause, name and first fix of every program: what the other entry point has to say, too."""
    found = {label["entry"]: ended[label["entry"]].diagnosis for label in RAISING + SILENT}
    parts = ((entry, each["code"], each["fixes"][0]["kind"], each["culprit"]["name"]) for entry, each in found.items())
    lines = [f"{' '.join(each)}\n" for each in parts]

    golden.check("text/corpus_answers.txt", "".join(sorted(lines)))


def place(location: dict[str, Any] | None) -> tuple[str, int] | None:
    """File and line; labels are relative to the corpus, reports to the program's folder."""
    return None if location is None else (Path(location["file"]).name, location["line"])
