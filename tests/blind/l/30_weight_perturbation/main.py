"""Adversarial weight perturbation around two passes, with lookahead weights.

Each step: (1) gradient at w, move to w + v; (2) gradient of a new forward there,
move back to w, apply it.  Every fifth step the slow weights pull the fast ones.
"""
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F


@contextmanager
def perturbed(params, size):
    """Weights at w + v inside the block, v along the gradient; w again after it."""
    with torch.no_grad():
        moves = [size * p.norm() * p.grad / (p.grad.norm() + 1e-12) for p in params]
        for p, v in zip(params, moves):
            p.add_(v)
            p.grad = None
    yield
    with torch.no_grad():
        for p, v in zip(params, moves):
            p.sub_(v)


class Lookahead:
    def __init__(self, inner, every=5, alpha=0.5):
        self.inner, self.every, self.alpha, self.count = inner, every, alpha, 0
        self.params = [p for g in inner.param_groups for p in g["params"]]
        self.slow = [p.detach().clone() for p in self.params]

    def step(self):
        self.inner.step()
        self.count += 1
        if self.count % self.every == 0:
            with torch.no_grad():
                for s, p in zip(self.slow, self.params):
                    s.lerp_(p, self.alpha)
                    p.copy_(s)


class Speller(nn.Module):
    def __init__(self, letters=12, dim=8):
        super().__init__()
        self.table = nn.Embedding(letters, dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.bias = nn.Parameter(torch.zeros(letters))

    def forward(self, ids):
        h = torch.tanh(self.mix(self.table(ids).transpose(1, 2))).transpose(1, 2)
        return h @ self.table.weight.t() + self.bias


def words(n=20, length=7):
    ids = torch.randint(0, 12, (n, length))
    ids[:, 1::2] = (ids[:, 0:-1:2] + 1) % 12
    return ids[:, :-1], ids[:, 1:]


def main():
    torch.manual_seed(29)
    net = Speller()
    params = list(net.parameters())
    outer = Lookahead(torch.optim.SGD(params, lr=0.3, momentum=0.5))
    for step in range(12):
        x, y = words()
        for p in params:
            p.grad = None
        loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        loss.backward()
        with perturbed(params, 0.02):
            loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
            loss.backward()
        outer.step()
        if step % 4 == 0:
            print(step, f"{loss.item():.4f}")


main()
