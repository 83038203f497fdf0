"""Balancing of several task losses by the size of their gradients."""
import torch


class GradientBalancer:
    """Weights tasks so that they pull equally hard on one shared layer.

    The weights are numbers, smoothed over the updates; they are not differentiated.
    """

    def __init__(self, shared_weight, names, smoothing=0.7):
        self.shared_weight = shared_weight
        self.smoothing = smoothing
        self.weights = {name: 1.0 for name in names}

    def pull(self, loss):
        """Length of the gradient of one loss at the shared layer."""
        (gradient,) = torch.autograd.grad(loss, self.shared_weight)
        return gradient.norm().item()

    def update(self, losses):
        pulls = {name: self.pull(loss) for name, loss in losses.items()}
        mean = sum(pulls.values()) / len(pulls)
        for name, value in pulls.items():
            fresh = mean / (value + 1e-8)
            self.weights[name] = self.smoothing * self.weights[name] + (1 - self.smoothing) * fresh
        return self.weights

    def combine(self, losses):
        weights = self.update(losses)
        return sum(weights[name] * loss for name, loss in losses.items())
