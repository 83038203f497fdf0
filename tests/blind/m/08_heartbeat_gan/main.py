"""GAN for single heart beats (32 samples of an ECG)."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2024)


@dataclass
class Config:
    noise: int = 6
    samples: int = 32
    batch: int = 24
    rounds: int = 12
    lr: float = 2e-3
    smooth: float = 0.9


def real_beats(count, samples):
    """P wave, QRS complex and T wave with random heights and places."""
    t = torch.linspace(0, 1, samples).repeat(count, 1)
    trace = torch.zeros(count, samples)
    for centre, width, height in [(0.2, 0.05, 0.2), (0.45, 0.02, 1.0), (0.5, 0.02, -0.3), (0.75, 0.07, 0.35)]:
        place = centre + 0.02 * torch.randn(count, 1)
        size = height * (1 + 0.1 * torch.randn(count, 1))
        trace = trace + size * torch.exp(-((t - place) ** 2) / (2 * width**2))
    return trace


class Forger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(cfg.noise, 48),
            nn.LeakyReLU(0.2),
            nn.Linear(48, cfg.samples),
        )

    def forward(self, noise):
        return 1.5 * torch.tanh(self.body(noise))


class Cardiologist(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, kernel_size=5, stride=2, padding=2)
        self.verdict = nn.Linear(8 * cfg.samples // 2, 1)

    def forward(self, beats):
        shape = F.leaky_relu(self.conv(beats.unsqueeze(1)), 0.2)
        return self.verdict(shape.flatten(1)).squeeze(1)


class Duel:
    def __init__(self, cfg):
        self.cfg = cfg
        self.forger = Forger(cfg)
        self.judge = Cardiologist(cfg)
        self.forger_opt = torch.optim.Adam(self.forger.parameters(), lr=cfg.lr, betas=(0.5, 0.99))
        self.judge_opt = torch.optim.Adam(self.judge.parameters(), lr=cfg.lr, betas=(0.5, 0.99))

    def judge_update(self, genuine, forged):
        """Teach the judge to tell genuine beats from forged ones."""
        on_real = self.judge(genuine)
        on_fake = self.judge(forged)
        cost = F.binary_cross_entropy_with_logits(on_real, torch.full_like(on_real, self.cfg.smooth))
        cost = cost + F.binary_cross_entropy_with_logits(on_fake, torch.zeros_like(on_fake))
        self.judge_opt.zero_grad()
        cost.backward()
        self.judge_opt.step()
        return cost.item()

    def forger_update(self, forged):
        """Teach the forger to get past the judge as it is now."""
        verdict = self.judge(forged)
        cost = F.binary_cross_entropy_with_logits(verdict, torch.ones_like(verdict))
        self.forger_opt.zero_grad()
        cost.backward()
        self.forger_opt.step()
        return cost.item()

    def round(self):
        genuine = real_beats(self.cfg.batch, self.cfg.samples)
        forged = self.forger(torch.randn(self.cfg.batch, self.cfg.noise))
        judge_cost = self.judge_update(genuine, forged)
        forger_cost = self.forger_update(forged)
        return judge_cost, forger_cost


def main():
    cfg = Config()
    duel = Duel(cfg)
    for number in range(cfg.rounds):
        judge_cost, forger_cost = duel.round()
        if number % 4 == 3:
            print(f"round {number + 1}: judge {judge_cost:.3f}  forger {forger_cost:.3f}")
    with torch.no_grad():
        sample = duel.forger(torch.randn(1, cfg.noise))
    print("peak of a forged beat:", round(sample.max().item(), 3))


if __name__ == "__main__":
    main()
