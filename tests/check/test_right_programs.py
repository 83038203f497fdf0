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
    "a target that is unpacked from an operation that is not known may have no graph": (
        """
        packed, shapes = torch.ops.vendor.pack(lin(torch.randn(2, 3)))
        shapes.sum().backward()
        packed.sum().backward()
        """,
        """
        h = lin(torch.randn(2, 3)).exp()
        packed, rest = h.chunk(2)
        rest.sum().backward()
        packed.sum().backward()
        """,
        "GS102",
    ),
    "where nothing is trained, no term of a loss fails to train": (
        """
        x = torch.randn(2, 3)
        loss = lin(x).square().mean() + nn.functional.mse_loss(lin(x).detach(), x)
        loss.backward()
        print(lin.weight.grad.norm())
        """,
        """
        x = torch.randn(2, 3)
        for _ in range(3):
            loss = lin(x).square().mean() + nn.functional.mse_loss(lin(x).detach(), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        "GS306",
    ),
    "an inner loop that is trained through keeps its graphs anyway": (
        """
        weights, losses = list(lin.parameters()), []
        for step in range(5):
            loss = nn.functional.linear(torch.randn(2, 3), *weights).square().mean()
            grads = torch.autograd.grad(loss, weights, create_graph=True)
            losses.append(loss)
            weights = [w - 0.1 * g for w, g in zip(weights, grads)]
        """,
        """
        weights, losses = list(lin.parameters()), []
        for step in range(5):
            loss = nn.functional.linear(torch.randn(2, 3), *weights).square().mean()
            grads = torch.autograd.grad(loss, weights)
            losses.append(loss)
            weights = [(w - 0.1 * g).detach().requires_grad_() for w, g in zip(weights, grads)]
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
    "what is unknown is not None": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(3, 2)
            def forward(self, x, labels=None):
                logits = self.lin(x)
                chosen = torch.argmax(logits, -1)
                if labels is not None:
                    return nn.functional.cross_entropy(logits, labels), chosen
                return chosen
        def train(loader):
            model = Model()
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, labels in loader:
                loss, _ = model(x, labels)
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(3, 2)
            def forward(self, x, labels=None):
                logits = self.lin(x)
                chosen = torch.argmax(logits, -1)
                if labels is not None:
                    return chosen, nn.functional.cross_entropy(logits, labels)
                return chosen, None
        def train(loader):
            model = Model()
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, labels in loader:
                loss, _ = model(x, labels)
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        "GS203",
    ),
    "what a flag cuts off is cut off on purpose": (
        """
        def train(loader, frozen):
            enc, head = nn.Linear(3, 3), nn.Linear(3, 1)
            opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
            for x in loader:
                h = enc(x)
                if frozen:
                    h = h.detach()
                opt.zero_grad()
                head(h).mean().backward()
                opt.step()
        """,
        """
        def train(loader, frozen):
            enc, head = nn.Linear(3, 3), nn.Linear(3, 1)
            opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)
            for x in loader:
                h = enc(x)
                h = h.detach()
                opt.zero_grad()
                head(h).mean().backward()
                opt.step()
        """,
        "GS306",
    ),
    "the last of some layers is known": (
        """
        layers = nn.ModuleList([nn.Linear(3, 8), nn.Linear(8, 3)])
        for _ in range(3):
            x = torch.randn(4, 3)
            y = x
            for i, layer in enumerate(layers):
                y = layer(y)
                if i < len(layers) - 1:
                    y = torch.relu(y)
            y += x
            y.mean().backward()
        """,
        """
        layers = nn.ModuleList([nn.Linear(3, 8), nn.Linear(8, 3)])
        for _ in range(3):
            x = torch.randn(4, 3)
            y = x
            for i, layer in enumerate(layers):
                y = layer(y)
                if i < len(layers):
                    y = torch.relu(y)
            y += x
            y.mean().backward()
        """,
        "GS202",
    ),
    "an optimizer around another clears what it inherits": (
        """
        class Around(torch.optim.Optimizer):
            def __init__(self, base):
                self.base = base
                self.param_groups = base.param_groups
            def step(self, closure=None):
                return self.base.step(closure)
        around = Around(opt)
        for _ in range(5):
            around.zero_grad()
            lin(torch.randn(4, 3)).mean().backward()
            around.step()
        """,
        """
        class Around(torch.optim.Optimizer):
            def __init__(self, base):
                self.base = base
                self.param_groups = base.param_groups
            def step(self, closure=None):
                return self.base.step(closure)
        around = Around(opt)
        for _ in range(5):
            lin(torch.randn(4, 3)).mean().backward()
            around.step()
        """,
        "GS303",
    ),
    "of two lists of numbers that are gone through, each number is known": (
        """
        parts = [lin, nn.Linear(3, 3)]
        for _ in range(5):
            outs = [each(torch.randn(4, 3)).exp() for each in parts]
            for i in range(2):
                sum((y if j == i else y.detach()).mean() for j, y in enumerate(outs)).backward()
        """,
        """
        parts = [lin, nn.Linear(3, 3)]
        for _ in range(5):
            outs = [each(torch.randn(4, 3)).exp() for each in parts]
            for i in range(2):
                sum((y.detach() if j == i else y).mean() for j, y in enumerate(outs * 2)).backward()
        """,
        "GS102",
    ),
    "a loop over a range writes every element of a list": (
        """
        def meta(sizes, batches):
            weights = [nn.Parameter(torch.randn(3, 3)) for _ in sizes] + [nn.Parameter(torch.randn(3, 3))]
            for batch in batches:
                for i in range(len(sizes) + 1):
                    weights[i] = weights[i].detach()
                    weights[i].requires_grad = True
                out = batch
                for w in weights:
                    out = out @ w
                out.sum().backward()
                weights = [w - 0.1 * w.exp() for w in weights]
        """,
        """
        def meta(sizes, batches):
            weights = [nn.Parameter(torch.randn(3, 3)) for _ in sizes] + [nn.Parameter(torch.randn(3, 3))]
            for batch in batches:
                out = batch
                for w in weights:
                    out = out @ w
                out.sum().backward()
                weights = [w - 0.1 * w.exp() for w in weights]
        """,
        "GS102",
    ),
    "`requires_grad = True` lets what was detached receive gradients": (
        """
        w = torch.randn(3, requires_grad=True)
        for _ in range(5):
            w = w.detach()
            w.requires_grad = True
            (g,) = torch.autograd.grad((w * 2).sum(), [w])
            w = w - g
        """,
        """
        w = torch.randn(3, requires_grad=True)
        for _ in range(5):
            w = w.detach()
            (g,) = torch.autograd.grad((w * 2).sum(), [w])
            w = w - g
        """,
        "GS203",
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
