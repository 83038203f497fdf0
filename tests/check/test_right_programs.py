"""Right programs that look wrong, each beside a wrong one that looks alike."""

from textwrap import dedent

import pytest

from check.rules import codes

BEGIN = """
import torch
from torch import nn

lin = nn.Linear(3, 3)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
"""

# What is right, what is wrong, and what that is.
PAIRS = {
    "an op saves a copy of what it changes itself": (
        """
        for _ in range(3):
            p = lin(torch.randn(4, 3)).abs() + 1
            p /= p.sum(dim=1, keepdim=True)
            opt.zero_grad()
            p.mean().backward()
            opt.step()
        """,
        """
        for _ in range(3):
            p = lin(torch.randn(4, 3)).exp()
            p /= p.sum(dim=1, keepdim=True)
            opt.zero_grad()
            p.mean().backward()
            opt.step()
        """,
        "GS202",
    ),
    "an item that is written again is kept no longer": (
        """
        rows = [torch.zeros(3), torch.zeros(3)]
        for step in range(3):
            for i in range(2):
                rows[i] = lin(rows[i].detach())
        lin(torch.ones(3)).sum().backward()
        """,
        """
        rows = [torch.zeros(3), torch.zeros(3)]
        for step in range(3):
            rows.append(lin(rows[-1].detach()))
        lin(torch.ones(3)).sum().backward()
        """,
        "GS301",
    ),
    "of two optimizers whose parameters are not known, neither owns all": (
        """
        class Model:
            def __init__(self, mode):
                self.D, self.G = nn.Linear(4, 1), nn.Linear(2, 4)
                if mode == "train":
                    self.opt_D = torch.optim.SGD(self.D.parameters(), lr=0.1)
                    self.opt_G = torch.optim.SGD(self.G.parameters(), lr=0.1)
            def train(self):
                for _ in range(9):
                    fake = torch.tanh(self.G(torch.randn(5, 2)))
                    self.D.zero_grad()
                    self.D(fake.detach()).mean().backward()
                    self.opt_D.step()
                    self.G.zero_grad()
                    self.D(fake).mean().backward()
                    self.opt_G.step()
        """,
        """
        D, G = nn.Linear(4, 1), nn.Linear(2, 4)
        opt_D, opt_G = torch.optim.SGD(D.parameters(), lr=0.1), torch.optim.SGD(G.parameters(), lr=0.1)
        for _ in range(9):
            fake = torch.tanh(G(torch.randn(5, 2)))
            judged = D(fake)
            D.zero_grad()
            D(fake.detach()).mean().backward()
            opt_D.step()
            G.zero_grad()
            judged.mean().backward()
            opt_G.step()
        """,
        "GS201",
    ),
    "a Variable has no graph": (
        """
        from torch.autograd import Variable
        fake = lin(torch.randn(4, 3)).exp()
        mixed = Variable(fake, requires_grad=True)
        (mixed * 2).exp().sum().backward()
        fake.sum().backward()
        """,
        """
        from torch.autograd import Variable
        Variable(lin(torch.randn(4, 3))).sum().backward()
        """,
        "GS203",
    ),
    "a trainer is told by a property that a step trains by hand": (
        """
        import pytorch_lightning as pl
        class Model(pl.LightningModule):
            @property
            def automatic_optimization(self):
                return False
            def training_step(self, batch, index):
                loss = lin(batch).exp().mean()
                self.manual_backward(loss)
                return loss
        """,
        """
        import pytorch_lightning as pl
        class Model(pl.LightningModule):
            @property
            def automatic_optimization(self):
                return True
            def training_step(self, batch, index):
                loss = lin(batch).exp().mean()
                self.manual_backward(loss)
                return loss
        """,
        "GS101",
    ),
    "a function that reduces cuts nothing": (
        """
        from lib import reduce_to_scalar
        reduce_to_scalar(lin(torch.randn(4, 3))).backward()
        """,
        """
        from lib import stop_gradient
        stop_gradient(lin(torch.randn(4, 3))).backward()
        """,
        "GS203",
    ),
}


@pytest.mark.parametrize(("right", "wrong", "code"), PAIRS.values(), ids=[each.replace(" ", "-") for each in PAIRS])
def test_right_program_is_left_alone(right: str, wrong: str, code: str) -> None:
    """A false alarm is worse than a miss; what is wrong beside it is found all the same."""
    assert codes(dedent(right), BEGIN) == []
    assert codes(dedent(wrong), BEGIN) == [code]
