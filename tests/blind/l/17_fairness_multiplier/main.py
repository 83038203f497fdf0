"""Classifier under a fairness constraint (augmented Lagrangian).

minimise  CE(theta)   subject to   c(theta) = gap of positive rates = 0

The primal step is SGD on CE + lam * c + rho/2 * c^2 with lam held fixed; the dual
step is lam <- clip(lam + rho * c), and rho grows when c does not shrink.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Dual:
    def __init__(self, rho=1.0, growth=1.5, bound=10.0):
        self.lam = torch.zeros(())
        self.rho = rho
        self.growth, self.bound = growth, bound
        self.worst = float("inf")

    def penalty(self, c):
        return self.lam * c + 0.5 * self.rho * c ** 2

    def ascend(self, c):
        self.lam = (self.lam + self.rho * c).clamp(-self.bound, self.bound)
        size = abs(float(c))
        if size > 0.9 * self.worst:
            self.rho = min(self.rho * self.growth, 20.0)
        self.worst = min(self.worst, size)


def rate_gap(logits, group):
    p = torch.sigmoid(logits)
    return p[group].mean() - p[~group].mean()


def applicants(n=200):
    group = torch.rand(n) < 0.4
    x = torch.randn(n, 5)
    x[:, 0] += group.float()
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.3 * torch.randn(n) > 0.4).float()
    return x, group, y


def solve(x, group, y, outer=4, inner=5):
    model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
    sgd = torch.optim.SGD(model.parameters(), lr=0.2)
    dual = Dual()
    for k in range(outer):
        for _ in range(inner):
            logits = model(x).squeeze(-1)
            c = rate_gap(logits, group)
            loss = F.binary_cross_entropy_with_logits(logits, y) + dual.penalty(c)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        dual.ascend(c)
        print(f"outer {k}: gap {c.item():+.4f} lam {dual.lam.item():+.4f} rho {dual.rho:.2f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(12)
    solve(*applicants())
