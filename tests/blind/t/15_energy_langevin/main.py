"""Energy-based density model: persistent Langevin negatives plus denoising score matching."""
import argparse
from contextlib import contextmanager

import torch
import torch.nn as nn

from sampler import NegativeBank, langevin


def spiral(n, seed):
    gen = torch.Generator().manual_seed(seed)
    r = 2.0 * torch.rand(n, generator=gen).sqrt()
    angle = 2.5 * r + torch.pi * torch.randint(0, 2, (n,), generator=gen)
    points = torch.stack([r * angle.cos(), r * angle.sin()], 1)
    return points + 0.05 * torch.randn(n, 2, generator=gen)


class Energy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(1) + 0.05 * x.pow(2).sum(1)


@contextmanager
def frozen(module):
    for p in module.parameters():
        p.requires_grad_(False)
    try:
        yield module
    finally:
        for p in module.parameters():
            p.requires_grad_(True)


def score_matching(energy, x, sigma):
    noise = torch.randn_like(x)
    noisy = (x + sigma * noise).requires_grad_(True)
    score = -torch.autograd.grad(energy(noisy).sum(), noisy, create_graph=True)[0]
    return (sigma * score + noise).pow(2).sum(1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=384)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--width", type=int, default=48)
    parser.add_argument("--langevin-steps", type=int, default=10)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    torch.manual_seed(19)
    data = spiral(args.points, seed=19)
    energy = Energy(args.width)
    bank = NegativeBank(size=256, dim=2)
    optimizer = torch.optim.Adam(energy.parameters(), lr=args.lr, betas=(0.5, 0.99))

    for epoch in range(args.epochs):
        stats = torch.zeros(3)
        batches = torch.randperm(args.points).split(args.batch_size)
        for idx in batches:
            positives = data[idx]
            slots, start = bank.draw(len(positives))
            with frozen(energy):
                negatives = langevin(energy, start, args.langevin_steps)
            bank.store(slots, negatives)

            optimizer.zero_grad()
            e_pos, e_neg = energy(positives), energy(negatives)
            contrast = e_pos.mean() - e_neg.mean()
            size = 0.1 * (e_pos.pow(2).mean() + e_neg.pow(2).mean())
            (contrast + size).backward()
            matching = score_matching(energy, positives, args.sigma)
            matching.backward()
            optimizer.step()
            stats += torch.stack([contrast.detach(), size.detach(), matching.detach()])
        contrast, size, matching = (stats / len(batches)).tolist()
        print(f"epoch {epoch}: contrast {contrast:.4f}  size {size:.4f}  score {matching:.4f}")


if __name__ == "__main__":
    main()
