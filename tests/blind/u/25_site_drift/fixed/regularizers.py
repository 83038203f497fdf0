import torch
import torch.nn.functional as F


class ElasticPenalty:
    """Keeps weights that mattered for earlier sites close to where they were."""

    def __init__(self, model, strength):
        self.model = model
        self.strength = strength
        self.anchors = []

    def consolidate(self, x, y, samples=64):
        fisher = {n: torch.zeros_like(p) for n, p in self.model.named_parameters()}
        for xi, yi in zip(x[:samples], y[:samples]):
            self.model.zero_grad()
            F.cross_entropy(self.model(xi[None]), yi[None]).backward()
            for n, p in self.model.named_parameters():
                fisher[n] += p.grad ** 2 / samples
        self.model.zero_grad()
        means = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        self.anchors.append((fisher, means))

    def __call__(self):
        penalty = torch.zeros(())
        for fisher, means in self.anchors:
            for name, value in self.model.named_parameters():
                penalty = penalty + (fisher[name] * (value - means[name]) ** 2).sum()
        return self.strength * penalty
