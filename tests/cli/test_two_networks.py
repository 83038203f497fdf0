"""Which of two losses gets the detach: the one whose step does not train the network that made the value."""

import pytest

from cli.test_check import Here, here

__all__ = ["here"]  # the fixture

SET_UP = """\
import torch
from torch import nn

made, judged = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt_made = torch.optim.Adam(made.parameters())
opt_judged = torch.optim.Adam(judged.parameters())
for _ in range(10):
    value = made(torch.randn(16, 4))
"""
JUDGES = """\
    opt_judged.zero_grad()
    low = judged(value).mean()
    low.backward()
    opt_judged.step()
"""
TRAINS_ITS_MAKER = """\
    opt_made.zero_grad()
    high = -judged(value).mean()
    high.backward()
    opt_made.step()
"""
# The order of the two updates, and the line that is to change.
ORDERS = {
    "the judge first": (JUDGES + TRAINS_ITS_MAKER, "    low = judged(value.detach()).mean()"),
    "its maker first": (TRAINS_ITS_MAKER + JUDGES, "    low = judged(value.detach()).mean()"),
}


@pytest.mark.parametrize("order", ORDERS)
def test_judge_is_given_the_values_alone(here: Here, order: str) -> None:
    """Detached in the other loss, the network that made them would be trained by nothing."""
    updates, changed = ORDERS[order]
    here.write("train.py", SET_UP + updates)

    lines = here.check("--diff").stdout.splitlines()

    assert [line for line in lines if line.startswith("+") and not line.startswith("+++")] == [f"+{changed}"]
