"""Every pair of examples, as a newcomer would try it: the broken half is explained and fixed, the fixed is quiet."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warm import Warm

EXAMPLES = Path(__file__).parents[1] / "examples"
INDEX = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| \[(?P<pair>\w+)\]\((?P=pair)/\) \| (?P<code>GS\d+) \| `(?P<culprit>[^`]+)` \| (?P<fix>[\w-]+) \|",
    re.MULTILINE,
)
LARGER = {"lightgcn"}  # has a test of its own
# Whether an average is a constant, or one batch is a step, only an author knows: the fix is right, and not verified.
UNSAID = {"moving_prototype", "overwritten_losses"}


@dataclass(frozen=True, slots=True)
class Label:
    """What a row of the index promises."""

    pair: str
    code: str
    culprit: str
    fix: str


LABELS = [Label(**row.groupdict()) for row in ROW.finditer(INDEX)]


@pytest.fixture(scope="module")
def warm() -> Warm:
    """Programs that need not wait for torch."""
    return Warm()


def test_every_pair_is_in_the_index() -> None:
    """A row for each folder, and a folder for each row."""
    folders = {each.name for each in EXAMPLES.iterdir() if each.is_dir()}

    assert folders == {label.pair for label in LABELS} | LARGER


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.pair)
def test_broken_half_is_explained_and_fixed(label: Label, tmp_path: Path, warm: Warm) -> None:
    """Code, name and fix as the index has them; then it prints what the fixed half prints."""
    script = shutil.copy(EXAMPLES / label.pair / "broken.py", tmp_path / "broken.py")
    command = [sys.executable, "-m", "gradsan", "fix", "--write", "--format", "json", "broken.py"]
    command += ["--unsafe"] if label.pair in UNSAID else []
    done = subprocess.run(
        [*command, "--verify", "python broken.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)["diagnoses"][0]
    best = found["fixes"][0]

    assert (found["code"], found["culprit"]["name"]) == (label.code, label.culprit)
    assert (best["kind"], done.returncode) == (label.fix, 0), done.stderr
    assert best["verified"] is (None if label.pair in UNSAID else True)
    repaired, fixed = warm.run(Path(script)), warm.run(EXAMPLES / label.pair / "fixed.py")
    assert (repaired.status, fixed.status) == (0, 0)
    assert repaired.stdout == fixed.stdout


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.pair)
def test_fixed_half_is_quiet(label: Label, warm: Warm) -> None:
    """Nothing is found, neither at run time nor in source."""
    script = EXAMPLES / label.pair / "fixed.py"

    watched = warm.run(script, "run", "--fail-on", "warning")
    checked = warm.run(script, "check", "--no-cache")

    assert (watched.status, checked.status) == (0, 0), watched.stderr + checked.stdout
    assert watched.stderr.startswith("gradsan: nothing found")


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label.pair)
def test_halves_differ_in_the_lines_that_matter(label: Label) -> None:
    """Short enough to be read as a lesson, and no more apart than the lesson needs."""
    broken, fixed = (
        (EXAMPLES / label.pair / f"{half}.py").read_text(encoding="utf-8").split('"""\n', 1)[1].splitlines()
        for half in ("broken", "fixed")
    )

    assert len(broken) <= 80
    assert len(set(broken) ^ set(fixed)) <= 8
