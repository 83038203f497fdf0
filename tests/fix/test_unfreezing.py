"""Freezing a whole model leaves nothing to train: what is to learn is told by what is new, and by the optimizer."""

from pathlib import Path

import pytest

from fix.programs import Case

NEW_HEAD = """\
from torch import nn

def main():
    model = pretrained()
    model.fc = nn.Linear(model.fc.in_features, 2)
    for param in model.parameters():
        param.requires_grad = False
    opt = SGD(model.fc.parameters(), lr=0.1)
    loss = model(x).mean()
    loss.backward()
"""
IN_A_FUNCTION = """\
from torch import nn

def freeze(net):
    for _, param in net.named_parameters():
        param.requires_grad_(False)

def main():
    model = pretrained()
    model.stem = nn.Conv2d(1, 8, 3)
    # The new head.
    model.head = nn.Linear(8, 2)
    freeze(model)
    loss = model(x).mean()
    loss.backward()
"""


def unfrozen(folder: Path, source: str, *cut: str) -> str | None:
    """The program without its freezing of what is to learn."""
    case = Case(folder, source)
    used = case.at("loss.backward()")
    return case.fixed("unfreeze", case.diagnosis("GS203", "loss", cut=case.at(*cut), used=used))


def test_new_part_is_put_in_below_the_freezing(tmp_path: Path) -> None:
    """It is the part that is to learn: nobody would freeze random weights."""
    head = "    model.fc = nn.Linear(model.fc.in_features, 2)\n"
    frozen = "        param.requires_grad = False\n"

    fixed = NEW_HEAD.replace(head, "").replace(frozen, frozen + head)
    assert unfrozen(tmp_path, NEW_HEAD, "param.requires_grad = False") == fixed


def test_new_parts_are_put_in_below_the_call_that_freezes(tmp_path: Path) -> None:
    """All of them, with their comments."""
    parts = "    model.stem = nn.Conv2d(1, 8, 3)\n    # The new head.\n    model.head = nn.Linear(8, 2)\n"

    fixed = IN_A_FUNCTION.replace(parts, "").replace("    freeze(model)\n", "    freeze(model)\n" + parts)
    assert unfrozen(tmp_path, IN_A_FUNCTION, "freeze(model)", "param.requires_grad_(False)") == fixed


@pytest.mark.parametrize("model", ["model", "self.net"])
def test_part_that_the_optimizer_is_given_is_unfrozen(tmp_path: Path, model: str) -> None:
    """Where nothing new was put in, that says what is to learn."""
    source = f"""\
def main(self):
    {model}.requires_grad_(False)
    opt = torch.optim.Adam({model}.head.parameters(), lr=0.1)
    loss = {model}(x).mean()
    loss.backward()
"""

    fixed = source.replace("(False)\n", f"(False)\n    {model}.head.requires_grad_(True)\n")
    assert unfrozen(tmp_path, source, "requires_grad_(False)") == fixed


NEAR_MISSES = {
    "only some are frozen": NEW_HEAD.replace(
        "        param.requires_grad = False\n", "        if param.ndim > 1:\n            param.requires_grad = False\n"
    ),
    "the part of another model": NEW_HEAD.replace("model.fc = nn", "other.fc = nn").replace(
        "SGD(model.fc", "SGD(other.fc"
    ),
    "a part that was there": NEW_HEAD.replace("nn.Linear(model.fc.in_features, 2)", "model.spare").replace(
        "model.fc.parameters()", "model.parameters()"
    ),
    "used before it is frozen": NEW_HEAD.replace("    for param", "    warm_up(model)\n    for param").replace(
        "model.fc.parameters()", "model.parameters()"
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_is_to_learn_is_not_guessed(tmp_path: Path, name: str) -> None:
    """Where the program does not say it, its author has to."""
    assert unfrozen(tmp_path, NEAR_MISSES[name], "param.requires_grad = False") is None


SHALLOW = """\
import copy

def frozen(student):
    teacher = copy.copy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher

def main():
    teacher = frozen(student)
    loss = student(x).mean()
    loss.backward()
"""


def test_frozen_copy_is_a_deep_one(tmp_path: Path) -> None:
    """A shallow one has the same parameters."""
    case = Case(tmp_path, SHALLOW)
    cut = case.at("teacher = frozen", "p.requires_grad_(False)", inner="frozen")
    found = case.diagnosis("GS203", "loss", cut=cut, used=case.at("loss.backward()"))
    assert case.fixed("unfreeze", found) == SHALLOW.replace("copy.copy", "copy.deepcopy")


def test_copy_of_something_else_stays_shallow(tmp_path: Path) -> None:
    """What is frozen is not that copy."""
    source = SHALLOW.replace("teacher = copy.copy(student)", "config = copy.copy(student.config)")
    case = Case(tmp_path, source)
    cut = case.at("teacher = frozen", "p.requires_grad_(False)", inner="frozen")
    assert case.fixed("unfreeze", case.diagnosis("GS203", "loss", cut=cut, used=case.at("loss.backward()"))) is None


IN_TURNS = """\
def freeze(net, flag):
    for p in net.parameters():
        p.requires_grad_(not flag)

def main():
    for x in loader:
        loss = critic(painter(x).detach()).mean()
        loss.backward()
        opt_critic.step()
        {freezing}
        other = critic(painter(x)).mean()
        other.backward()
        opt_painter.step()
"""


@pytest.mark.parametrize(
    ("freezing", "undone"),
    [
        ("critic.requires_grad_(False)", "        critic.requires_grad_(True)\n"),
        ("set_trained(critic, False)", "        set_trained(critic, True)\n"),
        ("set_trained([critic, judge], on=False)", "        set_trained([critic, judge], on=True)\n"),
        (
            "for p in critic.parameters():\n            p.requires_grad = False",
            "        for p in critic.parameters():\n            p.requires_grad = True\n",
        ),
        ("freeze(critic, mode)", None),
    ],
)
def test_what_is_frozen_for_another_pass_is_unfrozen_below_it(
    tmp_path: Path, freezing: str, undone: str | None
) -> None:
    """Its own pass comes above the freezing, and stops in the next iteration; what says nothing is not turned round."""
    source = IN_TURNS.format(freezing=freezing)

    fixed = unfrozen(tmp_path, source, freezing.splitlines()[-1].strip())

    assert fixed == (None if undone is None else source + undone)


def test_what_is_frozen_above_the_pass_was_frozen_for_it(tmp_path: Path) -> None:
    """The end of its block is too late for that pass."""
    source = "def main():\n    for x in loader:\n        net.requires_grad_(False)\n        loss = net(x).mean()\n"
    source += "        loss.backward()\n"

    assert unfrozen(tmp_path, source, "requires_grad_(False)") is None


@pytest.mark.parametrize(
    ("given", "required"),
    [
        ("[w]", "    w.requires_grad_()\n"),
        ("[self.w, b]", "    self.w.requires_grad_()\n    b.requires_grad_()\n"),
        ("params=local.values()", "    for each in local.values():\n        each.requires_grad_()\n"),
        ('[{"params": [w], "lr": 1}, {"params": [b]}]', "    w.requires_grad_()\n    b.requires_grad_()\n"),
        ("leaves", "    for each in leaves:\n        each.requires_grad_()\n"),
    ],
)
def test_what_an_optimizer_is_given_requires_gradients(tmp_path: Path, given: str, required: str) -> None:
    """Above the line that creates it."""
    creation = f"    opt = torch.optim.SGD({given}, lr=0.1)\n"
    source = f"def main():\n{creation}    loss.backward()\n"

    assert unfrozen(tmp_path, source, "opt =") == source.replace(creation, required + creation)
