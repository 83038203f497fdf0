"""Problems that never raise, on programs under the real command: every rule, and its near misses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from observe.silent_programs import RULES, Program, Rule

UNDER = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.under]
BEYOND = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.beyond]


def _findings(program: Program, folder: Path) -> list[tuple[str, str | None]]:
    """The code and the name of each."""
    (folder / "program.py").write_text(program.text, encoding="utf-8")
    command = [sys.executable, "-m", "gradsan", "run", "--format", "json", "-o", "report.json", "program.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=300)
    found = json.loads((folder / "report.json").read_text(encoding="utf-8"))["diagnoses"]
    return [(each["code"], each["culprit"]["name"] if each.get("culprit") else None) for each in found]


@pytest.mark.parametrize(("rule", "program"), UNDER)
def test_program_under_a_rule_is_found(rule: str, program: Program, tmp_path: Path) -> None:
    """It is found once, and nothing else is."""
    assert _findings(program, tmp_path) == [(program.code, program.name)], rule


@pytest.mark.parametrize(("rule", "program"), BEYOND)
def test_near_miss_is_left_alone(rule: str, program: Program, tmp_path: Path) -> None:
    """A false alarm is worse than a miss."""
    assert _findings(program, tmp_path) == [], rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_rule_has_paid_its_entrance_fee(rule: Rule) -> None:
    """Three programs under it, and a near miss that goes the other way."""
    assert len(rule.under) >= 3  # what a rule costs
    assert rule.beyond
