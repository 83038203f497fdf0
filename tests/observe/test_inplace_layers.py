"""A layer with `inplace=True` deep in a library's container: the explanation says which, as the user would reach it."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of

LIBRARY = """
from torch import nn

def gate(width):
    return nn.Sequential(nn.Linear(width, width), nn.Sigmoid(), nn.Hardtanh(0.1, 0.9, inplace=True))

class Stage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True), nn.Linear(width, width))
        self.last = nn.Sequential(nn.Tanh(), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.last(self.body(x))
"""

# What the explanation is about, the sentence about the layer, and the program.
PROGRAMS = {
    "in an attribute that a library made": (
        "self.gate[2]",
        "`self.gate[2]` (Hardtanh, inplace=True) changed its input in place",
        """
from library import gate

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate = nn.Linear(3, 3), gate(3)

    def forward(self, x):
        return self.value(x) * self.gate(x)

net = Net()
net(torch.ones(2, 3)).sum().backward()
""",
    ),
    "one of two alike, told by the layer before it": (
        "self.stage.last[1]",
        "`self.stage.last[1]` (ReLU, inplace=True)",
        """
from library import Stage

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = Stage(3)

    def forward(self, x):
        return self.stage(x)

def main():
    net = Net()
    net(torch.ones(2, 3)).sum().backward()

main()
""",
    ),
    "in a model that is no class of the user's": (
        "model[2]",
        "`model[2]` (Hardtanh, inplace=True)",
        """
from library import gate

def main():
    model = gate(3)
    model(torch.ones(2, 3)).sum().backward()

main()
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_layer_of_a_container_is_named(name: str, tmp_path: Path) -> None:
    """No line of the user's has a name for what was edited."""
    culprit, sentence, program = PROGRAMS[name]

    diagnosis = diagnosis_of(tmp_path, program, LIBRARY)

    assert diagnosis.code == "GS202"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == culprit
    assert sentence in diagnosis.message


def test_what_the_user_gave_to_the_first_layer_keeps_its_name(tmp_path: Path) -> None:
    """The tensor has one; which layer edited it is a note."""
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.head = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 1))

    def forward(self, x):
        h = torch.sigmoid(self.linear(x))
        return self.head(h).sum() + h.sum()

net = Net()
net(torch.ones(2, 3)).backward()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "h"
    assert "`inplace=True` of `self.head[0]` (ReLU) makes this change" in diagnosis.notes
