"""Sharpness-aware minimisation: climb to the worst point nearby, take the gradient there, step from the original point."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params = list(params)
        self.base = base
        self.rho = rho
        self.saved = None

    @torch.no_grad()
    def ascend(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.saved = [p.detach().clone() for p in self.params]
        for p in self.params:
            p.add_(p.grad * (self.rho / norm))

    @torch.no_grad()
    def descend(self):
        for p, old in zip(self.params, self.saved):
            p.copy_(old)
        self.base.step()

    def zero_grad(self):
        self.base.zero_grad()


def noisy_task(n=240, d=8):
    x = torch.randn(n, d)
    y = (x[:, :3].sum(1) + 0.5 * x[:, 3] * x[:, 4] > 0).long()
    flip = torch.rand(n) < 0.1
    return x, torch.where(flip, 1 - y, y)


def train():
    torch.manual_seed(13)
    x, y = noisy_task()
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    base = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    sam = SAM(net.parameters(), base)
    for epoch in range(8):
        total = 0.0
        for rows in torch.randperm(len(x)).split(40):
            logits = net(x[rows])
            loss = F.cross_entropy(logits, y[rows])

            # gradient at the present weights
            sam.zero_grad()
            loss.backward()
            sam.ascend()

            # gradient at the disturbed weights
            sam.zero_grad()
            F.cross_entropy(net(x[rows]), y[rows]).backward()
            sam.descend()
            total += loss.item() * len(rows)
        print(f"epoch {epoch}: loss {total / len(x):.4f}")


if __name__ == "__main__":
    train()
