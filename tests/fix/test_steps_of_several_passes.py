"""A step between passes through one forward: gradients that are cleared once, for all of them, are taken once."""

import subprocess
import sys
from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.kinds.reorder import takes_both_gradients
from gradsan.fix.proposing import candidates

LOOP = """\
def main():
    for x, ys in batches:
        opt.zero_grad()
        z = trunk(x)
        for head, y in zip(heads, ys):
            loss = criterion(head(z), y)
            loss.backward(retain_graph=True)
            opt.step()
        log(loss)
"""
IN_A_ROW = """\
def main():
    for x, y in batches:
        opt.zero_grad()
        z = trunk(x)
        one(z).mean().backward(retain_graph=True)
        opt.step()
        loss = two(z).mean()
        loss.backward()
        opt.step()
"""


def reordered(folder: Path, source: str, passing: str = "loss.backward") -> list[str]:
    """The program with the step moved, as far as its source speaks for that."""
    case = Case(folder, source)
    made, changed, used = map(case.at, ("z = trunk", "opt.step", passing))
    diagnosis = case.diagnosis("GS201", "z", made=made, changed=changed, used=used)
    found = [case.applied(edits) for edits in candidates("reorder", case.program(diagnosis))]
    assert bool(found) is takes_both_gradients(case.program(diagnosis))
    return found


def test_step_in_a_loop_of_passes_moves_below_the_loop(tmp_path: Path) -> None:
    """Where what is cleared once, above the loop, is the gradient of all of them."""
    below = LOOP.replace("            opt.step()\n", "        opt.step()\n")
    assert reordered(tmp_path, LOOP) == [below]


_FORWARD, _HEADER = "        z = trunk(x)\n", "        for head, y in zip(heads, ys):\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            loss = ", "            opt.zero_grad()\n            loss = "),  # a step for each of them
        ("        opt.zero_grad()\n", ""),  # nobody clears: that is another problem
        ("opt.step()", "opts[head].step()"),  # one for each head
        (_FORWARD + _HEADER, _HEADER + "    " + _FORWARD),
    ],
    ids=["cleared in the loop", "never cleared", "of the loop's own", "a forward of its own"],
)
def test_step_that_belongs_to_its_pass_stays(tmp_path: Path, old: str, new: str) -> None:
    """The forward is computed again instead."""
    assert old in LOOP
    case = Case(tmp_path, LOOP.replace(old, new))
    changed = case.at("step()")
    diagnosis = case.diagnosis("GS201", "z", made=case.at("z = trunk"), changed=changed, used=case.at("loss.backward"))
    assert not [*candidates("reorder", case.program(diagnosis))]


def test_step_that_is_made_again_below_the_later_pass_is_left_out(tmp_path: Path) -> None:
    """The one below takes both gradients."""
    assert reordered(tmp_path, IN_A_ROW) == [IN_A_ROW.replace("        opt.step()\n        loss", "        loss", 1)]


def test_step_stays_where_gradients_are_cleared_between_the_passes(tmp_path: Path) -> None:
    """Each step takes those of its own pass."""
    assert not reordered(tmp_path, IN_A_ROW.replace("        loss = ", "        opt.zero_grad()\n        loss = "))


def test_call_with_other_arguments_is_no_step_made_again(tmp_path: Path) -> None:
    """A method that clears, passes and steps is called once for each optimizer."""
    source = """\
class Agent:
    def descend(self, opt, loss):
        opt.zero_grad()
        loss.backward()
        opt.step()

    def update(self, x):
        first, second = self.losses(x)
        self.descend(self.critic_opt, first)
        self.descend(self.actor_opt, second)
"""
    case = Case(tmp_path, source)
    made = case.at("first, second", function="Agent.update")
    changed = case.at("self.descend(self.critic_opt", "opt.step()", function="Agent.update", inner="Agent.descend")
    used = case.at("self.descend(self.actor_opt", "loss.backward()", function="Agent.update", inner="Agent.descend")
    diagnosis = case.diagnosis("GS201", "second", made=made, changed=changed, used=used)

    assert not takes_both_gradients(case.program(diagnosis))


PROGRAM = """\
import torch
torch.manual_seed(0)
trunk = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
one, two = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.Adam([*trunk.parameters(), *one.parameters()], lr=0.01)
own = torch.optim.Adam(two.parameters(), lr=0.01)
for _ in range(6):
    x = torch.randn(8, 3)
    opt.zero_grad()
    own.zero_grad()
    z = trunk(x)
    one(z).square().mean().backward(retain_graph=True)
    opt.step()
    (two(z) - 1).square().mean().backward()
    own.step()
    {again}
"""


@pytest.mark.torch
@pytest.mark.parametrize(("again", "is_moved"), [("opt.step()", True), ("pass", False)])
def test_step_that_takes_the_same_gradients_again_waits_for_the_later_pass(
    tmp_path: Path, again: str, *, is_moved: bool
) -> None:
    """Where nobody takes what the later pass adds, only the author knows whether it was to flow: it may be a probe."""
    (tmp_path / "train.py").write_text(PROGRAM.format(again=again), encoding="utf-8")
    command = [sys.executable, "-m", "gradsan", "fix", "--write", "--verify", "python train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    text = (tmp_path / "train.py").read_text(encoding="utf-8")
    assert ("retain_graph=True)\n    (two(z)" in text) is is_moved, done.stderr
    assert ("only its author knows" in done.stdout) is not is_moved
