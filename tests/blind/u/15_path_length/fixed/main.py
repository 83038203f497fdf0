"""Small style-based GAN with lazy regularisation of critic (R1) and generator (path length)."""
import argparse

import torch
import torch.nn.functional as F

from nets import Critic, Mapping, Synthesis
from regularizers import PathLength, r1_penalty


def blobs(n, gen):
    yy, xx = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    c = 2 + 3.5 * torch.rand(n, 2, 1, 1, generator=gen)
    r = 0.8 + torch.rand(n, 1, 1, generator=gen)
    return torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / (2 * r ** 2)).unsqueeze(1)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.gen = torch.Generator().manual_seed(args.seed)
        self.mapping, self.synthesis, self.critic = Mapping(args.nz, args.nw), Synthesis(args.nw), Critic()
        g_params = list(self.mapping.parameters()) + list(self.synthesis.parameters())
        self.g_opt = torch.optim.Adam(g_params, lr=args.lr, betas=(0.0, 0.99))
        self.d_opt = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.0, 0.99))
        self.path_length = PathLength()

    def generate(self, n):
        w = self.mapping(torch.randn(n, self.args.nz, generator=self.gen))
        return w, self.synthesis(w)

    def critic_step(self, it):
        real = blobs(self.args.batch, self.gen)
        with torch.no_grad():
            _, fake = self.generate(self.args.batch)
        loss = F.softplus(-self.critic(real)).mean() + F.softplus(self.critic(fake)).mean()
        if it % self.args.d_every == 0:
            loss = loss + self.args.r1 / 2 * self.args.d_every * r1_penalty(self.critic, real)
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def generator_step(self):
        _, fake = self.generate(self.args.batch)
        loss = F.softplus(-self.critic(fake)).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return loss.item()

    def generator_regularize(self):
        w, fake = self.generate(self.args.batch // 2)
        penalty = self.path_length(w, fake, self.gen)
        self.g_opt.zero_grad()
        (self.args.pl_weight * self.args.g_every * penalty).backward()
        self.g_opt.step()
        return penalty.item()

    def fit(self):
        penalty = float("nan")
        for it in range(self.args.iterations):
            d = self.critic_step(it)
            g = self.generator_step()
            if it % self.args.g_every == 0:
                penalty = self.generator_regularize()
            if it % 4 == 0 or it == self.args.iterations - 1:
                print(f"it {it:3d} d {d:.4f} g {g:.4f} path {penalty:.5f} mean {self.path_length.mean.item():.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=25)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--nz", type=int, default=8)
    p.add_argument("--nw", type=int, default=16)
    p.add_argument("--d-every", type=int, default=4)
    p.add_argument("--g-every", type=int, default=4)
    p.add_argument("--r1", type=float, default=1.0)
    p.add_argument("--pl-weight", type=float, default=2.0)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=10)
    torch.manual_seed(10)
    Trainer(p.parse_args()).fit()
