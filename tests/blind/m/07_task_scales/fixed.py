"""Predict three properties of a wine whose scales differ by orders of magnitude."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)


class Balancer:
    """Divides every task's loss by its usual size so that no task drowns the others.

    The usual size is measured along the way with an exponential average.
    """

    def __init__(self, keep=0.9):
        self.keep = keep
        self.magnitude = {}

    def __call__(self, losses):
        balanced = 0
        for task, value in losses.items():
            size = value.detach()
            past = self.magnitude.get(task, size)
            self.magnitude[task] = self.keep * past + (1 - self.keep) * size
            balanced = balanced + value / self.magnitude[task]
        return balanced


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 32), nn.SiLU())
        self.heads = nn.ModuleDict({name: nn.Linear(32, 1) for name in ("density", "sulphates", "price")})

    def forward(self, x):
        t = self.trunk(x)
        return {name: head(t).squeeze(1) for name, head in self.heads.items()}


x = torch.randn(200, 9)
targets = {
    "density": 0.01 * x[:, 0] + 0.99,
    "sulphates": (x[:, 1] * x[:, 2]).tanh(),
    "price": 40 + 15 * x[:, 3].relu() + 2 * torch.randn(200),
}
net = WineNet()
balance = Balancer()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)

for step in range(40):
    rows = torch.randint(200, (50,))
    out = net(x[rows])
    losses = {name: F.l1_loss(out[name], targets[name][rows]) for name in out}
    objective = balance(losses)
    opt.zero_grad()
    objective.backward()
    opt.step()
    if step % 10 == 9:
        print(step, {name: round(v.item(), 3) for name, v in losses.items()})
