"""Programs modelled on public reports, run under the real command: right about every one, silent on the mended ones."""

import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golden_files import Golden

CORPUS = Path(__file__).parent / "corpus"
LABELS: list[dict[str, Any]] = json.loads((CORPUS / "labels.json").read_text(encoding="utf-8"))
RAISING = [label for label in LABELS if label["outcome"] == "raises"]
SILENT = [label for label in LABELS if label["outcome"] == "silent"]
CLEAN = [label["entry"] for label in LABELS if label["outcome"] == "clean"]
CLEAN += [label["fixed"] for label in LABELS if label["fixed"]]

ROLES = ("used", "made", "enters", "changed", "cut", "held")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended under gradsan."""

    status: int
    stderr: str
    report: dict[str, Any]

    @property
    def diagnosis(self) -> dict[str, Any]:
        """The one there is."""
        (only,) = self.report["diagnoses"]
        return dict(only)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[Ended]]:
    """Every program, started ahead of its test: most of the time goes into importing torch."""
    folder = tmp_path_factory.mktemp("reports")
    pool = ThreadPoolExecutor(os.cpu_count())

    def run(entry: str) -> Ended:
        script = CORPUS / entry
        output = folder / f"{script.parent.name}-{script.stem}.json"
        command = [sys.executable, "-B", "-m", "gradsan", "run", "--format", "json", "-o", str(output), script.name]
        done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
        return Ended(done.returncode, done.stderr, json.loads(output.read_text(encoding="utf-8")))

    return {entry: pool.submit(run, entry) for entry in [*(label["entry"] for label in RAISING + SILENT), *CLEAN]}


@pytest.mark.parametrize("label", RAISING, ids=lambda label: label["id"])
def test_error_is_explained(label: dict[str, Any], ended: dict[str, Future[Ended]]) -> None:
    """One diagnosis: the right cause, the failing call, the pass that freed the graph, and a fix that mends it."""
    outcome = ended[label["entry"]].result()
    diagnosis = outcome.diagnosis

    assert diagnosis["code"] == label["cause"]
    assert place(diagnosis["used"]) == place(label["second_backward"])
    assert place(diagnosis["freed"]) == place(label["first_backward"])
    assert diagnosis["fixes"][0]["kind"] in label["fix"]
    assert f"{label['cause']} {diagnosis['name']}: " in outcome.stderr


@pytest.mark.parametrize("label", RAISING, ids=lambda label: label["id"])
def test_culprit_is_named(label: dict[str, Any], ended: dict[str, Future[Ended]]) -> None:
    """The name through which the graph survived, as the user would write it."""
    culprit = ended[label["entry"]].result().diagnosis["culprit"]

    assert culprit is not None
    assert culprit["name"] in label["culprit"]["names"]


@pytest.mark.parametrize("label", SILENT, ids=lambda label: label["id"])
def test_silent_problem_is_found(label: dict[str, Any], ended: dict[str, Future[Ended]]) -> None:
    """One diagnosis at exit: the right cause, the right name, a line that belongs to it, a fix that mends it."""
    outcome = ended[label["entry"]].result()
    diagnosis = outcome.diagnosis

    assert outcome.status == 0
    assert diagnosis["code"] == label["cause"]
    assert diagnosis["culprit"]["name"] in label["culprit"]["names"]
    assert {diagnosis[role]["line"] for role in ROLES if diagnosis[role]} & set(label["culprit"]["lines"])
    assert diagnosis["fixes"][0]["kind"] in label["fix"]


@pytest.mark.parametrize("entry", CLEAN)
def test_program_that_runs_is_left_alone(entry: str, ended: dict[str, Future[Ended]]) -> None:
    """A false alarm is worse than a miss."""
    outcome = ended[entry].result()

    assert outcome.status == 0
    assert outcome.report["diagnoses"] == []


def test_answers_are_on_record(ended: dict[str, Future[Ended]], golden: Golden) -> None:
    """Cause, name and first fix of every program: what the other entry point has to say, too."""
    found = {label["entry"]: ended[label["entry"]].result().diagnosis for label in RAISING + SILENT}
    parts = ((entry, each["code"], each["fixes"][0]["kind"], each["culprit"]["name"]) for entry, each in found.items())
    lines = [f"{' '.join(each)}\n" for each in parts]

    golden.check("text/corpus_answers.txt", "".join(sorted(lines)))


def place(location: dict[str, Any] | None) -> tuple[str, int] | None:
    """File and line; labels are relative to the corpus, reports to the program's folder."""
    return None if location is None else (Path(location["file"]).name, location["line"])
