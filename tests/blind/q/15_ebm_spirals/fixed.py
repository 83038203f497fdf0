"""Energy-based model of 2-D spirals with persistent contrastive divergence.

Negative samples come from a replay buffer and are refined by a few Langevin
steps on the current energy. The energy network is then pushed down on the data
and up on the negatives; the sampler itself is not differentiated.
"""
import contextlib
import math

import torch
import torch.nn as nn


class Energy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


@contextlib.contextmanager
def frozen(module):
    for p in module.parameters():
        p.requires_grad_(False)
    try:
        yield
    finally:
        for p in module.parameters():
            p.requires_grad_(True)


class ReplayBuffer:
    def __init__(self, size=512, refresh=0.05):
        self.samples = 2 * torch.rand(size, 2) - 1
        self.refresh = refresh

    def draw(self, n):
        idx = torch.randint(0, len(self.samples), (n,))
        x = self.samples[idx]
        fresh = torch.rand(n) < self.refresh
        x[fresh] = 2 * torch.rand(int(fresh.sum()), 2) - 1
        return idx, x

    def store(self, idx, x):
        self.samples[idx] = x


def langevin(energy, x, steps=15, step_size=0.02, noise=0.01):
    x.requires_grad_(True)
    with frozen(energy):
        for _ in range(steps):
            grad, = torch.autograd.grad(energy(x).sum(), x)
            with torch.no_grad():
                x -= step_size * grad.clamp(-5, 5)
                x += noise * torch.randn_like(x)
                x.clamp_(-1.5, 1.5)
    return x.detach()


def spirals(n):
    t = torch.rand(n).sqrt() * 2 * math.pi
    arm = torch.where(torch.rand(n) < 0.5, 1.0, -1.0)
    points = torch.stack([t * t.cos(), t * t.sin()], dim=1) * arm.unsqueeze(1)
    return points / (2 * math.pi) + 0.02 * torch.randn(n, 2)


def main():
    torch.manual_seed(606)
    energy, buffer = Energy(), ReplayBuffer()
    optimizer = torch.optim.Adam(energy.parameters(), lr=2e-3, betas=(0.0, 0.999))
    for step in range(60):
        data = spirals(128)
        idx, start = buffer.draw(128)
        negatives = langevin(energy, start)
        buffer.store(idx, negatives)

        e_data, e_neg = energy(data), energy(negatives)
        loss = e_data.mean() - e_neg.mean() + 0.1 * (e_data ** 2 + e_neg ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}  loss {loss.item():+.4f}  "
                  f"data {e_data.mean().item():+.3f}  negatives {e_neg.mean().item():+.3f}")


if __name__ == "__main__":
    main()
