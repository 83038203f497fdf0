"""Optimizers that were created too early, and layers in plain lists."""

from pathlib import Path

import pytest

from fix.programs import Case

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
