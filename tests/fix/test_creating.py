"""What creates something that is trained is told from what only computes with it."""

import pytest

from gradsan.fix.refusals.creating import creates_trained
from gradsan.source.disk import parsed

FILE = """
import torch
from torch import nn
from torch import optim as O
from torch.utils.data import DataLoader
import torch.nn.functional as F

class Net(nn.Module):
    pass

class Wide(Net):
    pass

class Bank:
    def __init__(self):
        self.table = torch.zeros(3, requires_grad=True)

class Normal:
    def __init__(self, mean):
        self.mean = mean

def build():
    return inner()

def inner():
    return nn.Linear(3, 3)

def smooth(x):
    return nn.ReLU()(x)
"""


@pytest.mark.parametrize(
    ("code", "creates"),
    [
        ("net = nn.Linear(3, 1)", True),
        ("w = torch.nn.Parameter(start)", True),
        ("opt = O.SGD(net.parameters(), 0.1)", True),
        ("loader = DataLoader(data)", True),
        ("net = Wide()", True),
        ("bank = Bank()", True),
        ("out = build()(x)", True),
        ("x = start.clone().requires_grad_()", True),
        ("out = net(x)", False),
        ("out = net(torch.ones(3, requires_grad=True))", False),
        ("dist = Normal(net(x))", False),
        ("out = smooth(net(x))", False),
        ("loss = nn.MSELoss()(out, y)", False),
        ("out = F.normalize(table)", False),
        ("x = torch.zeros(3, requires_grad=False)", False),
    ],
)
def test_creation_is_distinguished_from_use(code: str, creates: bool) -> None:  # noqa: FBT001 # a parameter of the test
    """Layers, parameters, optimizers, loaders, leaves: also where a function or class of the file makes them."""
    source = parsed("train.py", FILE.encode())
    assert source is not None

    assert creates_trained(code, source) is creates
