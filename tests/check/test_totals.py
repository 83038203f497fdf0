"""Totals for a log that are made of losses, and totals that are themselves trained on."""

import pytest

from gradsan.check.reading import check_content

PROGRAM = """
import torch
from torch import nn

class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n

model, meter = nn.Linear(4, 1), Meter()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(5, 8, 4):
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    {step}
print(meter.sum / meter.count)
"""


@pytest.mark.parametrize(
    ("step", "codes"),
    [
        ("loss.backward(); opt.step(); meter.update(loss, len(x))", ["GS301"]),
        ("loss.backward(); opt.step(); meter.update(loss.item(), len(x))", []),
        ("meter.update(loss, len(x))\n(meter.sum / meter.count).backward()", []),
    ],
)
def test_loss_that_is_weighted_before_it_is_added_keeps_its_history(step: str, codes: list[str]) -> None:
    """Multiplied with a number, it is still the loss that the pass took."""
    assert [each.code for each in check_content("program.py", PROGRAM.format(step=step).encode()).diagnoses] == codes


READ = """
import torch
from search import tune
from torch import nn

class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

    def line(self):
        return f"{self.sum / max(self.count, 1):.3f}"

model, meter = nn.Linear(4, 1), Meter()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(5, 8, 4):
    pred = model(x)
    opt.zero_grad()
    pred.pow(2).mean().backward()
    opt.step()
    meter.update({fed})
    {end}
"""


@pytest.mark.parametrize(
    ("fed", "end", "codes"),
    [
        ("model(x).abs().mean()", "print(meter.line())", ["GS301"]),
        ("model(x).abs().mean()", "scaled = meter.sum * 2", ["GS301"]),
        ("model(x).abs().mean()", "tune(meter.sum / meter.count)", []),
        ("pred.abs().mean()", "tune(meter.sum / meter.count)", ["GS301"]),
    ],
)
def test_reading_a_total_is_no_use_of_its_graph(fed: str, end: str, codes: list[str]) -> None:
    """Only a pass is, or somebody who is not followed and may ask for one: not over what is freed already."""
    program = READ.replace("{fed}", fed).replace("{end}", end).encode()

    assert [each.code for each in check_content("program.py", program).diagnoses] == codes
