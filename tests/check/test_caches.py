"""A cache that is filled once is told from a step that was skipped."""

import pytest

from gradsan.check.reading import check_content
from gradsan.check.values import Value, key_of

PROGRAM = """
import torch
from torch import nn

class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.frequencies = nn.Parameter(torch.ones(4))
        self.tables = None

    def forward(self, x):
        if self.tables is None or len(self.tables[0]) != len(x):
            angles = torch.arange(len(x))[:, None] * self.frequencies
            self.tables = (angles.cos(), angles.sin())
        cos, sin = self.tables
        return x * cos + x * sin

model = Rotary()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    {guard}
    loss = model(torch.randn(3, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(loss.item())
"""


@pytest.mark.parametrize("guard", ["pass", "if step == 7: print(step)"])
def test_condition_that_decides_over_nothing_leaves_a_cache_a_cache(guard: str) -> None:
    """It asks about what it fills; whether something is printed has nothing to do with it."""
    (found,) = check_content("program.py", PROGRAM.format(guard=guard).encode()).diagnoses

    assert found.code == "GS109"


def test_key_of_an_unknown_value_is_never_anothers() -> None:
    """A value that is gone leaves its key to nobody: else a cache would answer by chance."""
    keys = {key_of(Value()) for _ in range(100)}

    assert len(keys) == 100


REMEMBERED = """
import functools, joblib, torch
from functools import lru_cache

memory = joblib.Memory("kept")
weight = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([weight], lr=0.1)

{decorator}
def table(factor):
    return (weight * factor).exp()

for step in range(9):
    opt.zero_grad()
    table(2).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize("decorator", ["@lru_cache", "@functools.lru_cache(maxsize=8)", "@functools.cache"])
def test_function_that_remembers_its_results_keeps_their_graph(decorator: str) -> None:
    """The same tensor comes back, in every iteration."""
    (found,) = check_content("program.py", REMEMBERED.format(decorator=decorator).encode()).diagnoses

    assert found.code == "GS109"


def test_cache_on_disk_keeps_no_graph() -> None:
    """What a method called `cache` gives back may be a copy of the values: joblib's reads them from a file."""
    assert check_content("program.py", REMEMBERED.format(decorator="@memory.cache").encode()).diagnoses == ()
