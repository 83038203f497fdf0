"""Glaze colour from oxide fractions, trained with Lookahead (k steps forward, 1 step back).

Fast weights: SGD.  Every K steps  slow <- slow + alpha * (fast - slow),  fast <- slow.
Gradients of two half-batches are added before each step.
"""
import torch
from torch import nn

K, ALPHA = 5, 0.5


class Lookahead:
    def __init__(self, optimizer, k=K, alpha=ALPHA):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.count = 0
        self.slow = {p: p.detach().clone() for g in optimizer.param_groups for p in g["params"]}

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            self.synchronise()

    @torch.no_grad()
    def synchronise(self):
        for p, s in self.slow.items():
            s.add_(p - s, alpha=self.alpha)
            p.copy_(s)


def kiln(n=200):
    oxide = torch.distributions.Dirichlet(torch.ones(5)).sample((n,))
    mix = torch.randn(5, 3)
    return oxide, torch.sigmoid(oxide @ mix * 3 + 0.5)


def main():
    torch.manual_seed(23)
    x, y = kiln()
    net = nn.Sequential(nn.Linear(5, 32), nn.GELU(), nn.Linear(32, 3), nn.Sigmoid())
    opt = Lookahead(torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9))
    total = torch.zeros(())
    for step in range(30):
        idx = torch.randperm(len(x))[:64]
        for half in idx.chunk(2):
            loss = nn.functional.mse_loss(net(x[half]), y[half]) / 2
            loss.backward()
            total += loss.detach()
        opt.step()
        opt.zero_grad()
        if step % 10 == 9:
            print(f"step {step + 1}: mean mse {total.item() / 10:.5f}")
            total.zero_()


if __name__ == "__main__":
    main()
