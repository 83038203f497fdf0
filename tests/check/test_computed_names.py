"""Attributes whose names the program computes."""

import pytest

from check.rules import Rule, check

_NET = """
import sys
class Net(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.name = name
        self.h = torch.zeros(8, 4)
        setattr(self, name, torch.zeros(8, 4))
        for n in range(2):
            setattr(self, f"state_{{n}}", torch.zeros(8, 4))
    def forward(self, x):
        {}
        return h
net = Net(sys.argv[1])
for _ in range(9):
    opt.zero_grad()
    loss = net(x).sum()
    loss.backward()
    opt.step()
"""


def _net(*forward: str) -> str:
    return _NET.format("\n        ".join(forward))


RULES = [
    Rule(
        "a computed name is the same attribute where the same words compute it",
        "GS103",
        found=(
            _net("h = self.cell(x, getattr(self, self.name))", "setattr(self, self.name, h)"),
            _net(
                "for n in range(2):",
                '    h = self.cell(x, getattr(self, f"state_{n}"))',
                '    setattr(self, f"state_{n}", h)',
            ),
        ),
        near_miss=_net("h = self.cell(x, getattr(self, self.name))", "setattr(self, self.name, h.detach())"),
    ),
    Rule(
        "what is set in the dict of an object is set in the object",
        "GS103",
        found=(
            _net("h = self.cell(x, self.h)", 'self.__dict__["h"] = h'),
            _net('h = self.cell(x, vars(self)["h"])', "self.h = h"),
            _net('h = self.cell(x, vars(self)["h"])', 'vars(self).update({"h": h})'),
        ),
        near_miss=_net('h = self.cell(x, vars(self)["h"])', 'vars(self)["other"] = h'),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule(rule: Rule) -> None:
    """Every program of the rule is found out, and its near miss is not."""
    check(rule)
