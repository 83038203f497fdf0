"""Model-agnostic meta-learning on sinusoids: adapt to each task in two inner steps."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class Regressor(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.layers(x)


class SinusoidTasks:
    """Each task has its own amplitude and phase."""

    def __init__(self, shots):
        self.shots = shots

    def sample(self):
        amplitude = 0.5 + torch.rand(()) * 2
        phase = torch.rand(()) * math.pi
        x = torch.rand(2 * self.shots, 1) * 6 - 3
        y = amplitude * torch.sin(x + phase)
        return (x[:self.shots], y[:self.shots]), (x[self.shots:], y[self.shots:])


def inner_step(net, weights, support, lr):
    x, y = support
    loss = F.mse_loss(functional_call(net, weights, (x,)), y)
    grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
    return {name: w - lr * g for (name, w), g in zip(weights.items(), grads)}


def meta_train(net, tasks, args):
    optimizer = torch.optim.Adam(net.parameters(), lr=args.meta_lr)
    history = []
    for iteration in range(args.iterations):
        optimizer.zero_grad()
        meta_loss = 0.0
        for _ in range(args.tasks_per_batch):
            support, (x_query, y_query) = tasks.sample()
            fast_weights = dict(net.named_parameters())
            for _ in range(args.inner_steps):
                fast_weights = inner_step(net, fast_weights, support, args.inner_lr)
            query_loss = F.mse_loss(functional_call(net, fast_weights, (x_query,)), y_query) / args.tasks_per_batch
            query_loss.backward()
            meta_loss += query_loss.item()
        optimizer.step()
        history.append(meta_loss)
        if (iteration + 1) % 10 == 0:
            print(f"iteration {iteration + 1}: meta loss {sum(history[-10:]) / 10:.4f}")
    return history


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--tasks-per-batch", type=int, default=5)
    parser.add_argument("--inner-steps", type=int, default=2)
    parser.add_argument("--inner-lr", type=float, default=0.02)
    parser.add_argument("--meta-lr", type=float, default=5e-3)
    return parser.parse_args()


if __name__ == "__main__":
    torch.manual_seed(0)
    meta_train(Regressor(), SinusoidTasks(shots=10), parse_args())
