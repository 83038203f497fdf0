"""The name through which a freed graph survived, on programs that really fail: every rule, and its near misses."""

import sys
from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of, line_of, marked
from observe.names_programs import RULES, Program, Rule

UNDER = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.under]
BEYOND = [pytest.param(rule.sentence, each, id=each.title) for rule in RULES for each in rule.beyond]


def _name(program: Program, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Where a comment says which line created the graph, that is the line."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "parts", raising=False)
    (folder / "parts.py").write_text(program.other, encoding="utf-8")
    diagnosis = diagnosis_of(folder, program.main)
    culprit, created = diagnosis.culprit, marked(program.main, "created")
    assert created in (None, line_of(diagnosis.made))
    return None if culprit is None else culprit.name


@pytest.mark.parametrize(("rule", "program"), UNDER)
def test_program_under_a_rule_is_named(
    rule: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is one that a reader of the program would point at."""
    assert _name(program, tmp_path, monkeypatch) in program.names, rule


@pytest.mark.parametrize(("rule", "program"), BEYOND)
def test_near_miss_goes_the_other_way(
    rule: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks as if the rule applied, and another name is right."""
    assert _name(program, tmp_path, monkeypatch) in program.names, rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_rule_has_paid_its_entrance_fee(rule: Rule) -> None:
    """Three programs under it, and a near miss that goes the other way."""
    assert len(rule.under) >= 3  # what a rule costs
    assert rule.beyond
