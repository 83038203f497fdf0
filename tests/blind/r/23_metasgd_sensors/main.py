"""Meta-SGD on calibration curves of gas sensors.

The initial weights and one positive inner learning rate per tensor are both
meta-learned, through the inner steps (second order).
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def softplus_inverse(y):
    return math.log(math.expm1(y))


class SensorTask:
    """One sensor: a curve with its own gain, offset and saturation."""

    def __init__(self, generator):
        gain, offset, sat = torch.rand(3, generator=generator)
        self.gain, self.offset, self.sat = 1 + 2 * gain, offset - 0.5, 0.5 + sat
        self.g = generator

    def sample(self, n):
        x = 4 * torch.rand(n, 1, generator=self.g) - 2
        y = self.sat * torch.tanh(self.gain * x) + self.offset
        return x, y + 0.02 * torch.randn(n, 1, generator=self.g)


class MetaLearner(nn.Module):
    def __init__(self, hidden=32, init_lr=0.05):
        super().__init__()
        sizes = [(hidden, 1), (hidden,), (hidden, hidden), (hidden,), (1, hidden), (1,)]
        self.weights = nn.ParameterList(
            nn.Parameter(torch.randn(s) / math.sqrt(s[1]) if len(s) == 2 else torch.zeros(s))
            for s in sizes)
        raw = softplus_inverse(init_lr)
        self.raw_lrs = nn.ParameterList(nn.Parameter(torch.tensor(raw)) for _ in sizes)

    def inner_lrs(self):
        return [F.softplus(r) for r in self.raw_lrs]

    @staticmethod
    def predict(x, w):
        h = torch.tanh(F.linear(x, w[0], w[1]))
        h = torch.tanh(F.linear(h, w[2], w[3]))
        return F.linear(h, w[4], w[5])

    def adapt(self, x, y, lrs, steps):
        fast = list(self.weights)
        for _ in range(steps):
            loss = F.mse_loss(self.predict(x, fast), y)
            grads = torch.autograd.grad(loss, fast, create_graph=True)
            fast = [w - lr * g for w, lr, g in zip(fast, lrs, grads)]
        return fast


class MetaTrainer:
    def __init__(self, meta_batch=4, shots=8, inner_steps=2, meta_lr=3e-3, seed=13):
        torch.manual_seed(seed)
        self.g = torch.Generator().manual_seed(seed)
        self.meta_batch, self.shots, self.inner_steps = meta_batch, shots, inner_steps
        self.learner = MetaLearner()
        self.opt = torch.optim.Adam(self.learner.parameters(), lr=meta_lr)

    def meta_step(self):
        """One step on the mean query loss over a batch of sensors."""
        self.opt.zero_grad()
        lrs = self.learner.inner_lrs()
        total = 0.0
        for _ in range(self.meta_batch):
            task = SensorTask(self.g)
            support, query = task.sample(self.shots), task.sample(self.shots)
            fast = self.learner.adapt(*support, lrs, self.inner_steps)
            query_loss = F.mse_loss(self.learner.predict(query[0], fast), query[1])
            (query_loss / self.meta_batch).backward()
            total += query_loss.item()
        self.opt.step()
        return total / self.meta_batch

    def fit(self, iterations):
        for it in range(iterations):
            loss = self.meta_step()
            if it % 15 == 0:
                rates = " ".join(f"{r.item():.4f}" for r in self.learner.inner_lrs())
                print(f"iter {it:3d}  query loss {loss:.4f}  inner rates {rates}")


if __name__ == "__main__":
    MetaTrainer().fit(75)
