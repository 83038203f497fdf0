"""Learn the noise levels and dynamics of a Kalman filter from a long GPS-like track.

The track is read in windows; the belief at the end of one window is where the next one starts.
"""
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn


@dataclass
class TrackConfig:
    length: int = 800
    window: int = 20
    dt: float = 0.5
    accel_noise: float = 0.3
    gps_noise: float = 1.5
    lr: float = 0.05
    seed: int = 4


class Belief(NamedTuple):
    mean: torch.Tensor
    cov: torch.Tensor


def simulate(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    pos, vel, seen = 0.0, 0.5, []
    for _ in range(cfg.length):
        a = cfg.accel_noise * torch.randn((), generator=g).item()
        vel = 0.97 * vel + a * cfg.dt
        pos = pos + vel * cfg.dt
        seen.append(pos + cfg.gps_noise * torch.randn((), generator=g).item())
    return torch.tensor(seen)


class LearnedFilter(nn.Module):
    def __init__(self, dt):
        super().__init__()
        self.log_q = nn.Parameter(torch.tensor(0.5))
        self.log_r = nn.Parameter(torch.tensor(-1.0))
        self.damping = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("H", torch.tensor([[1.0, 0.0]]))
        self.register_buffer("G", torch.tensor([[0.5 * dt * dt], [dt]]))
        self.dt = dt

    def prior(self):
        return Belief(torch.zeros(2, 1), torch.eye(2) * 4.0)

    def transition(self):
        one, dt = torch.ones(()), torch.tensor(self.dt)
        keep = torch.sigmoid(self.damping)
        return torch.stack([torch.stack([one, dt]), torch.stack([torch.zeros(()), keep])])

    def step(self, belief, z, F, Q, R):
        mean = F @ belief.mean
        cov = F @ belief.cov @ F.T + Q
        innovation = z - self.H @ mean
        S = self.H @ cov @ self.H.T + R
        gain = cov @ self.H.T / S
        nll = 0.5 * (torch.log(S) + innovation ** 2 / S).squeeze()
        return Belief(mean + gain @ innovation, cov - gain @ self.H @ cov), nll

    def forward(self, belief, window):
        F = self.transition()
        Q = self.G @ self.G.T * torch.exp(2 * self.log_q)
        R = torch.exp(2 * self.log_r)
        terms = []
        for z in window:
            belief, nll = self.step(belief, z, F, Q, R)
            terms.append(nll)
        return belief, torch.stack(terms).mean()


def main():
    cfg = TrackConfig()
    torch.manual_seed(cfg.seed)
    track = simulate(cfg)
    kf = LearnedFilter(cfg.dt)
    optimizer = torch.optim.Adam(kf.parameters(), lr=cfg.lr)

    belief = kf.prior()
    for k, window in enumerate(track.split(cfg.window)):
        belief, loss = kf(belief, window)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if k % 5 == 0:
            print(f"window {k:2d}  nll {loss.item():.4f}  q {kf.log_q.exp().item():.3f}  "
                  f"r {kf.log_r.exp().item():.3f}")


if __name__ == "__main__":
    main()
