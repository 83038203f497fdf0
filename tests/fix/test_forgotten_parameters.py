"""Optimizers that were created too early, layers in plain lists, and parts that took the place of others."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.proposing import candidates
from gradsan.report import FixKind

TRAINING = """\
for x in data:
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
"""


def moved(folder: Path, above: str) -> str | None:
    """What stands above the training once the optimizer is created later; None where that cannot be written."""
    case = Case(folder, above + TRAINING)
    found = case.diagnosis("GS306", "opt", used=case.at("opt.step()", function="<module>"))
    fixed = case.fixed("reorder", found)
    return None if fixed is None else fixed.removesuffix(TRAINING)


CREATED = "opt = torch.optim.SGD(net.parameters(), 0.1)\n"
SCHEDULED = CREATED + "schedule = torch.optim.lr_scheduler.StepLR(opt, 5)\n"


@pytest.mark.parametrize("change", ["net.head = torch.nn.Linear(4, 2)\n", "net.swap_head(2)\n", "widen(net, 2)\n"])
@pytest.mark.parametrize("created", [CREATED, SCHEDULED], ids=["optimizer", "schedule"])
def test_optimizer_is_created_below_the_last_line_that_may_change_its_model(
    tmp_path: Path, change: str, created: str
) -> None:
    """With what is made of it."""
    assert moved(tmp_path, "import torch\n" + created + change) == "import torch\n" + change + created


def test_optimizer_stays_where_nothing_below_it_speaks_of_its_model(tmp_path: Path) -> None:
    """Nor does it move past what uses it."""
    assert moved(tmp_path, "import torch\n" + CREATED + "other = torch.nn.Linear(4, 2)\n") is None
    assert moved(tmp_path, "import torch\n" + CREATED + "warm_up(opt)\nnet.swap_head(2)\n") is None


TOWER = """\
from torch import nn
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = {layers}
"""


@pytest.mark.parametrize(
    ("layers", "written"),
    [
        ("[nn.Linear(3, 3), nn.Linear(3, 3)]", "nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])"),
        ("[nn.Linear(3, 3) for _ in range(4)]", "nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])"),
        ("[]", "nn.ModuleList([])"),
        ("{'a': nn.Linear(3, 3)}", "nn.ModuleDict({'a': nn.Linear(3, 3)})"),
        ("build(4)", None),
    ],
)
def test_layers_are_kept_where_a_model_knows_of_them(tmp_path: Path, layers: str, written: str | None) -> None:
    """In a list or a dict of modules; what a call returns may be anything."""
    case = Case(tmp_path, TOWER.replace("{layers}", layers) + TRAINING)
    found = case.diagnosis("GS306", "layers", used=case.at("opt.step()", function="<module>"))

    fixed = case.fixed("setting", found)

    assert fixed == (None if written is None else TOWER.replace("{layers}", written) + TRAINING)


QUANTIZER = """\
import torch
from torch import nn
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = nn.Parameter(torch.ones(1))
        self.zero = nn.Parameter(torch.ones(1))
    def start(self, x):
        {lines}
"""


def copied(folder: Path, *lines: str) -> list[str]:
    """What stands in the function that replaces a parameter, for every edit that copies its values."""
    written = QUANTIZER.replace("{lines}", "\n        ".join(lines))
    case = Case(folder, written + TRAINING)
    changed = case.at(lines[0], function="Quantizer.start")
    found = case.diagnosis("GS306", "self.step", used=case.at("opt.step()", function="<module>"), changed=changed)
    edits = candidates("no-grad", case.program(found))
    return [case.applied(each).partition("start(self, x):\n")[2].removesuffix(TRAINING) for each in edits]


def test_new_values_are_copied_into_the_parameter_that_the_optimizer_has(tmp_path: Path) -> None:
    """In its shape, where theirs is another: a trial says which."""
    assert copied(tmp_path, "self.step = nn.Parameter(x.abs().mean())") == [
        "        with torch.no_grad():\n            self.step.copy_(x.abs().mean())\n",
        "        with torch.no_grad():\n            self.step.copy_((x.abs().mean()).reshape_as(self.step))\n",
    ]


def test_all_that_a_function_replaces_is_copied(tmp_path: Path) -> None:
    """One of two would still be in no optimizer."""
    first, *_ = copied(tmp_path, "self.step = nn.Parameter(x.std())", "self.zero = nn.Parameter(x.mean())")

    assert first.count("torch.no_grad") == 2
    assert "self.step.copy_(x.std())" in first
    assert "self.zero.copy_(x.mean())" in first


def test_only_a_new_parameter_is_copied(tmp_path: Path) -> None:
    """A layer has another number of outputs, and what a name stands for is not known."""
    assert copied(tmp_path, "self.step = nn.Linear(2, 3)") == []
    assert copied(tmp_path, "self.step = wider") == []


GROWING = """\
import torch
from torch import nn
class Net(nn.Module):
    def grow(self):
        self.head = nn.Linear(4, 9)
def main(net):
    opt = torch.optim.SGD(net.parameters(), 0.1)
{lines}
"""


def grown(folder: Path, kind: FixKind, *lines: str) -> str | None:
    """The body of the function that creates an optimizer, once a kind of fix is made."""
    case = Case(folder, GROWING.replace("{lines}", "\n".join(f"    {each}" for each in lines)))
    changed = case.at("self.head = nn", function="Net.grow")
    found = case.diagnosis("GS306", "self.head", used=case.at(lines[-1]), changed=changed, made=case.at("opt = torch"))
    fixed = case.fixed(kind, found)
    return None if fixed is None else fixed.partition("def main(net):\n")[2]


def test_new_part_is_given_to_an_optimizer_that_is_at_hand(tmp_path: Path) -> None:
    """Below the call that leads to its creation, as it is called there."""
    fixed = grown(tmp_path, "advice", "for n in range(9):", "    net.grow()", "    opt.step()")

    assert fixed is not None
    assert '        net.grow()\n        opt.add_param_group({"params": net.head.parameters()})\n' in fixed


@pytest.mark.parametrize("call", ["net.grow()", "if n:\n            net.grow()"])
def test_optimizer_is_created_in_the_iteration_that_replaces_a_part(call: str, tmp_path: Path) -> None:
    """Below the branch in which it does."""
    fixed = grown(tmp_path, "reorder", "for n in range(9):", f"    {call}", "    train(net, opt)", "    opt.step()")

    created = "        opt = torch.optim.SGD(net.parameters(), 0.1)\n"
    assert fixed == f"    for n in range(9):\n        {call}\n{created}        train(net, opt)\n        opt.step()\n"


def test_optimizer_is_not_created_behind_what_uses_it(tmp_path: Path) -> None:
    """Above the loop, or at its beginning."""
    loop = ("for n in range(9):", "    net.grow()", "    opt.step()")

    assert grown(tmp_path, "reorder", "warm_up(opt)", *loop) is None
    assert grown(tmp_path, "reorder", "for n in range(9):", "    opt.zero_grad()", *loop[1:]) is None


@pytest.mark.parametrize("kind", ["reorder", "advice"])
def test_nothing_is_written_where_no_call_shows_both(kind: FixKind, tmp_path: Path) -> None:
    """The optimizer is not at hand where the part is replaced, and nobody is seen to call that function."""
    assert grown(tmp_path, kind, "train(net, opt)") is None
