"""Conditional neural process on long curves.

A task has few context points and many targets.  To bound the memory of the
decoder, the targets go through it in chunks, each of which adds its share of the
task's gradient; there is one update per task.
"""
import torch
import torch.nn as nn


class CNP(nn.Module):
    def __init__(self, r=16):
        super().__init__()
        self.encode_point = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, r))
        self.decode_point = nn.Sequential(nn.Linear(r + 1, 24), nn.ReLU(), nn.Linear(24, 2))

    def summarise(self, xc, yc):
        return self.encode_point(torch.stack([xc, yc], -1)).mean(0)

    def predict(self, r, xt):
        rows = torch.cat([r.expand(len(xt), -1), xt[:, None]], -1)
        mean, raw = self.decode_point(rows).unbind(-1)
        return torch.distributions.Normal(mean, 0.05 + nn.functional.softplus(raw))


class CurveTasks:
    def __init__(self, n, points=96, context=10):
        self.n, self.points, self.context = n, points, context

    def __iter__(self):
        for _ in range(self.n):
            x = torch.rand(self.points) * 4 - 2
            y = torch.sin(x * (1 + torch.rand(())) + torch.rand(()) * 3)
            c = self.context
            yield x[:c], y[:c], x[c:], y[c:]


def chunk_losses(model, task, size):
    xc, yc, xt, yt = task
    r = model.summarise(xc, yc)
    for x, y in zip(xt.split(size), yt.split(size)):
        yield -model.predict(r, x).log_prob(y).sum() / len(xt)


def train(model, tasks, size=32):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for number, task in enumerate(tasks):
        optimizer.zero_grad(set_to_none=True)
        nll = 0.0
        for share in chunk_losses(model, task, size):
            share.backward(retain_graph=True)
            nll += share.item()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if number % 4 == 0:
            print(f"task {number:2d} nll {nll:.4f}")


torch.manual_seed(23)
train(CNP(), CurveTasks(12))
