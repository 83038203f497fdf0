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


WATCHING = """\
import gradsan
with gradsan.watch(quiet=True) as watching:
    import program
print([(each.code, each.culprit.name if each.culprit else None) for each in watching.diagnoses])
"""
WATCHED = {
    "a loss that is divided for accumulation",
    "in a function, with a log",
    "several passes before each update",
    "a state leads on from iteration to iteration",
}
KEEPS = """\
import torch
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters())
keep = []
for _ in range(12):
    loss = net(torch.randn(8, 4)).square().mean()
    loss.backward()
    {updates}
    net.zero_grad()
    keep.append(loss)
"""
LEAKS = [
    Program(f"what the last pass took is kept, {title}", KEEPS.format(updates=updates), "GS301", "keep")
    for title, updates in (
        ("and stepped on", "opt.step()"),
        ("and updated by hand", "net.weight.data -= 0.01 * net.weight.grad"),
    )
]


@pytest.mark.parametrize(
    "program",
    [each for rule in RULES for each in (*rule.under, *rule.beyond) if each.title in WATCHED] + LEAKS,
    ids=lambda each: each.title,
)
def test_program_is_watched_from_within_as_it_is_run(program: Program, tmp_path: Path) -> None:
    """The calls that were running already are in some stacks and not in others; and its variables outlive the watch."""
    (tmp_path / "program.py").write_text(program.text, encoding="utf-8")
    (tmp_path / "main.py").write_text(WATCHING, encoding="utf-8")
    command = [sys.executable, "main.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True, timeout=300)
    assert done.stdout.strip() == str([(program.code, program.name)] if program.code else [])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_rule_has_paid_its_entrance_fee(rule: Rule) -> None:
    """Three programs under it, and a near miss that goes the other way."""
    assert len(rule.under) >= 3  # what a rule costs
    assert rule.beyond


@pytest.mark.parametrize(
    ("created", "name"),
    [
        ("keep = {}\nkeep[-1] = []", "keep[-1]"),
        ("import collections\nkeep = collections.namedtuple('Log', 'kept')([])\nkept = keep.kept", "keep.kept"),
    ],
)
def test_items_have_names_whatever_their_keys(created: str, name: str, tmp_path: Path) -> None:
    """A key below zero is no position in a tuple."""
    text = KEEPS.format(updates="opt.step()").replace("keep = []", created)
    text = text.replace("keep.append(loss)", f"{name}.append(loss)")
    found = _findings(Program("kept in an item", text, "GS301", name), tmp_path)

    assert [code for code, _ in found] == ["GS301"]
