"""Weights for several losses from the size of their gradients at a shared layer."""
import torch


class GradientBalancer:
    """Gives every task the same gradient norm at the shared parameters (on average)."""

    def __init__(self, shared, tasks, momentum=0.5):
        self.shared = list(shared)
        self.momentum = momentum
        self.weights = {name: 1.0 for name in tasks}

    def norms(self, losses):
        result = {}
        for name, loss in losses.items():
            grads = torch.autograd.grad(loss, self.shared)
            result[name] = torch.sqrt(sum(g.pow(2).sum() for g in grads)).item()
        return result

    def update(self, losses):
        norms = self.norms(losses)
        mean = sum(norms.values()) / len(norms)
        for name, norm in norms.items():
            wanted = mean / (norm + 1e-8)
            self.weights[name] = self.momentum * self.weights[name] + (1 - self.momentum) * wanted

    def total(self, losses):
        return sum(self.weights[name] * loss for name, loss in losses.items())
