"""Style-based GAN for ECG beats with path length regularisation.

The generator maps z -> w -> beat. Every few iterations the generator gets an extra
update that pulls the length of the Jacobian-vector product |J_w^T y| towards its
exponential moving average (Karras et al. 2020, section 3.2).
"""
import math
from itertools import count, islice

import torch
from torch import nn, autograd
import torch.nn.functional as F

torch.manual_seed(2020)

Z, W, BEAT = 8, 12, 40
BATCH = 24
PATH_EVERY = 3
PATH_WEIGHT = 2.0


class Mapping(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(Z, 24), nn.LeakyReLU(0.2), nn.Linear(24, W))


class Synthesis(nn.Module):
    def __init__(self):
        super().__init__()
        self.const = nn.Parameter(torch.randn(32))
        self.style = nn.Linear(W, 32)
        self.out = nn.Sequential(nn.LeakyReLU(0.2), nn.Linear(32, 48), nn.Tanh(), nn.Linear(48, BEAT))

    def forward(self, w):
        return self.out(self.const * (1 + self.style(w)))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = Mapping()
        self.synthesis = Synthesis()

    def forward(self, z):
        w = self.mapping(z)
        return self.synthesis(w), w


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.LeakyReLU(0.2),
                                  nn.Conv1d(8, 8, 5, stride=2), nn.LeakyReLU(0.2))
        self.fc = nn.Linear(56, 1)

    def forward(self, x):
        return self.fc(self.conv(x.unsqueeze(1)).flatten(1))


class PathLengthPenalty:
    """Squared distance of the path lengths to their moving average."""

    def __init__(self, decay=0.9):
        self.decay = decay
        self.average = torch.zeros(())

    def __call__(self, beats, w):
        y = torch.randn_like(beats) / math.sqrt(beats.shape[1])
        (jvp,) = autograd.grad((beats * y).sum(), w, create_graph=True)
        lengths = jvp.pow(2).sum(dim=1).sqrt()
        penalty = (lengths - self.average).pow(2).mean()
        self.average = self.average + (1 - self.decay) * (lengths.mean().detach() - self.average)
        return penalty


def real_beats():
    grid = torch.linspace(-1, 1, BEAT)
    while True:
        shift = 0.1 * torch.randn(BATCH, 1)
        r_peak = torch.exp(-((grid - shift) / 0.05) ** 2)
        t_wave = 0.3 * torch.exp(-((grid - 0.5 - shift) / 0.15) ** 2)
        yield r_peak + t_wave + 0.02 * torch.randn(BATCH, BEAT)


def d_step(D, G, real, opt):
    with torch.no_grad():
        fake, _ = G(torch.randn(BATCH, Z))
    loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def g_step(D, G, opt):
    fake, _ = G(torch.randn(BATCH, Z))
    loss = F.softplus(-D(fake)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def path_step(G, path_length, opt):
    fake, w = G(torch.randn(BATCH // 2, Z))
    penalty = path_length(fake, w)
    opt.zero_grad()
    (PATH_WEIGHT * PATH_EVERY * penalty).backward()
    opt.step()
    return penalty.item()


def main():
    G, D = Generator(), Discriminator()
    opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.0, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.0, 0.99))
    path_length = PathLengthPenalty()

    for it, real in islice(zip(count(), real_beats()), 18):
        d_loss = d_step(D, G, real, opt_d)
        g_loss = g_step(D, G, opt_g)
        if it % PATH_EVERY == 0:
            pl = path_step(G, path_length, opt_g)
            print(f"it {it:3d}  D {d_loss:.3f}  G {g_loss:.3f}  path {pl:.4f}  mean {float(path_length.average):.4f}")


if __name__ == "__main__":
    main()
