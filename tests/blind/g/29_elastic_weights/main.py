"""Two tasks one after the other with elastic weight consolidation."""
import torch
from torch import nn
from torch.nn import functional as F


class Consolidation:
    """Quadratic penalties around the weights of finished tasks, weighted by the Fisher information."""

    def __init__(self, model, strength):
        self.model, self.strength = model, strength
        self.tasks = []

    def remember(self, x, y):
        fisher = [torch.zeros_like(p) for p in self.model.parameters()]
        for i in range(0, len(x), 4):
            self.model.zero_grad()
            F.cross_entropy(self.model(x[i:i + 1]), y[i:i + 1]).backward()
            for total, p in zip(fisher, self.model.parameters()):
                total += p.grad ** 2 / (len(x) / 4)
        self.model.zero_grad()
        anchor = [p.detach().clone() for p in self.model.parameters()]
        self.tasks.append((fisher, anchor))

    def penalty(self):
        loss = torch.zeros(())
        for fisher, anchor in self.tasks:
            for f, a, p in zip(fisher, anchor, self.model.parameters()):
                loss = loss + (f * (p - a).pow(2)).sum()
        return self.strength * loss


def task(columns, n=240):
    x = torch.randn(n, 10)
    return x, (x[:, columns].sum(1) > 0).long()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(81)
    tasks = [task([0, 1, 2]), task([5, 6]), task([8, 9])]
    model = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Linear(40, 2))
    ewc = Consolidation(model, strength=30.0)
    for number, (x, y) in enumerate(tasks):
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for epoch in range(4):
            for rows in torch.randperm(len(x)).split(30):
                loss = F.cross_entropy(model(x[rows]), y[rows]) + ewc.penalty()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        ewc.remember(x, y)
        print(f"after task {number}: loss {loss.item():.4f}, accuracy", [round(accuracy(model, *t), 3) for t in tasks[:number + 1]])


main()
