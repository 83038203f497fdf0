"""Wasserstein GAN with weight clipping on one-dimensional data."""
import argparse
import json

import torch
from torch import nn, optim


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--n-critic", type=int, default=2)
    p.add_argument("--clip", type=float, default=0.1)
    p.add_argument("--batch", type=int, default=32)
    return p.parse_args()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, z):
        return self.main(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.main(x)


def real_batch(n):
    return 3.0 + 0.5 * torch.randn(n, 1)


def main():
    args = parse()
    torch.manual_seed(27)
    G, C = Generator(), Critic()
    opt_g = optim.RMSprop(G.parameters(), lr=0.02)
    opt_c = optim.RMSprop(C.parameters(), lr=0.02)
    for step in range(args.steps):
        for _ in range(args.n_critic):
            real = real_batch(args.batch)
            fake = G(torch.randn(args.batch, 2))
            score_real, score_fake = C(real), C(fake)
            loss_c = score_fake.mean() - score_real.mean()
            opt_c.zero_grad()
            loss_c.backward(retain_graph=True)
            opt_c.step()
            with torch.no_grad():
                for p in C.parameters():
                    p.clamp_(-args.clip, args.clip)
        loss_g = -score_fake.mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        if step % 4 == 3:
            print(json.dumps({"step": step + 1, "critic": round(loss_c.item(), 5),
                              "fake_mean": round(fake.mean().item(), 3)}))


if __name__ == "__main__":
    main()
