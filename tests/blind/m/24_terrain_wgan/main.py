"""Wasserstein GAN for terrain profiles (24 heights along a line)."""
import argparse

import torch
from torch import nn

POINTS, LATENT = 24, 5


def parse(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--critic-steps", type=int, default=3)
    parser.add_argument("--penalty", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=52)
    return parser.parse_args(argv)


def profiles(count):
    """Random hills: a few cosines with falling amplitudes."""
    where = torch.linspace(0, 1, POINTS)
    heights = torch.zeros(count, POINTS)
    for octave in range(1, 5):
        shift = 6.2832 * torch.rand(count, 1)
        heights = heights + torch.cos(6.2832 * octave * where + shift) / octave**1.5
    return heights


class Sculptor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, 40), nn.ReLU(), nn.Linear(40, POINTS))

    def forward(self, latent):
        return self.net(latent)

    def make(self, count):
        return self(torch.randn(count, LATENT))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(POINTS, 40), nn.Softplus(), nn.Linear(40, 1, bias=False))

    def forward(self, heights):
        return self.net(heights).squeeze(1)


def slope_penalty(critic, real, fake):
    """How far the critic is from slope one between real and fake profiles."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = critic(between)
    slopes = torch.autograd.grad(
        outputs=scores,
        inputs=between,
        grad_outputs=torch.ones_like(scores),
        only_inputs=True,
    )[0]
    return ((slopes.norm(2, dim=1) - 1) ** 2).mean()


def critic_round(critic, optimizer, real, fake, weight):
    gap = critic(fake).mean() - critic(real).mean()
    penalty = slope_penalty(critic, real, fake)
    optimizer.zero_grad()
    (gap + weight * penalty).backward()
    optimizer.step()
    return gap.item(), penalty.item()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    sculptor, critic = Sculptor(), Critic()
    sculptor_opt = torch.optim.Adam(sculptor.parameters(), lr=1e-3, betas=(0.0, 0.9))
    critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))

    for number in range(args.rounds):
        for _ in range(args.critic_steps):
            with torch.no_grad():
                fake = sculptor.make(32)
            gap, penalty = critic_round(critic, critic_opt, profiles(32), fake, args.penalty)

        worth = critic(sculptor.make(32)).mean()
        sculptor_opt.zero_grad()
        (-worth).backward()
        sculptor_opt.step()
        print(f"round {number}: gap {gap:+.3f}  penalty {penalty:.3f}  worth {worth.item():+.3f}")


if __name__ == "__main__":
    main()
