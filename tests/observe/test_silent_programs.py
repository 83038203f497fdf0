"""Problems that never raise, on programs that really run: every rule, and its near misses."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import gradsan
from observe.silent_programs import RULES, Program, Rule

UNDER = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.under]
BEYOND = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.beyond]


def _findings(program: Program, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """The code and the name of each."""
    (folder / "silent_program.py").write_text(program.text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    try:
        with gradsan.watch(quiet=True) as watching:
            import_module("silent_program")
    finally:
        sys.modules.pop("silent_program", None)
    return [(each.code, each.culprit.name if each.culprit else None) for each in watching.diagnoses]


@pytest.mark.parametrize(("rule", "program"), UNDER)
def test_program_under_a_rule_is_found(
    rule: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found once, and nothing else is."""
    assert _findings(program, tmp_path, monkeypatch) == [(program.code, program.name)], rule


@pytest.mark.parametrize(("rule", "program"), BEYOND)
def test_near_miss_is_left_alone(rule: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A false alarm is worse than a miss."""
    assert _findings(program, tmp_path, monkeypatch) == [], rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_rule_has_paid_its_entrance_fee(rule: Rule) -> None:
    """Three programs under it, and a near miss that goes the other way."""
    assert len(rule.under) >= 3  # what a rule costs
    assert rule.beyond
