"""MAML: learn initial weights from which a few measurements of a new kettle suffice.

A task is one kettle: its temperature over time, with its own power and loss rate.
Each kettle gets `INNER` gradient steps on its support points, always beginning
with the shared initial weights; the query points then judge these weights.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(90)

INNER, INNER_LR = 2, 0.05
TASKS, SHOTS = 4, 8


class Kettle:
    def __init__(self):
        self.power = 0.5 + torch.rand(1)
        self.loss = 0.2 + 0.6 * torch.rand(1)

    def measure(self, count):
        t = 4 * torch.rand(count, 1)
        warm = self.power / self.loss * (1 - torch.exp(-self.loss * t))
        return t, warm + 0.02 * torch.randn(count, 1)


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, t):
        return self.layers(t - 2)


def task_loss(model, weights, points):
    t, warm = points
    return F.mse_loss(functional_call(model, weights, (t,)), warm)


def adapt(model, weights, support):
    """One inner gradient step, differentiable with respect to the weights given."""
    inner = task_loss(model, weights, support)
    slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
    return {name: w - INNER_LR * g for (name, w), g in zip(weights.items(), slopes)}


def meta_step(model, optimizer, kettles):
    optimizer.zero_grad()
    average = 0.0
    fast = dict(model.named_parameters())
    for kettle in kettles:
        support, query = kettle.measure(SHOTS), kettle.measure(SHOTS)
        for _ in range(INNER):
            fast = adapt(model, fast, support)
        outer = task_loss(model, fast, query) / len(kettles)
        outer.backward()
        average += outer.item()
    optimizer.step()
    return average


def main():
    model = Curve()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(30):
        score = meta_step(model, optimizer, [Kettle() for _ in range(TASKS)])
        if step % 10 == 9:
            print(f"meta step {step + 1}: query error after adaptation {score:.4f}")

    # a kettle nobody has seen
    kettle = Kettle()
    support, query = kettle.measure(SHOTS), kettle.measure(SHOTS)
    weights = dict(model.named_parameters())
    before = task_loss(model, weights, query).item()
    for _ in range(INNER):
        weights = adapt(model, weights, support)
    print(f"new kettle: {before:.4f} -> {task_loss(model, weights, query).item():.4f}")


if __name__ == "__main__":
    main()
