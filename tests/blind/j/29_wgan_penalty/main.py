"""WGAN with gradient penalty on simulated price curves.

The critic is updated five times for each update of the generator; the penalty asks for a
gradient of length one on the lines between real and generated curves. One generated batch
serves the five critic updates of a round.
"""
from dataclasses import dataclass

import torch

from nets import Critic, Generator, SlowCopy


@dataclass
class Config:
    rounds: int = 10
    critic_updates: int = 5
    batch: int = 24
    penalty: float = 2.0
    drift: float = 1e-3
    lr_generator: float = 5e-4
    lr_critic: float = 4e-3


class Market:
    """Mean-reverting random walks."""

    def __init__(self, length=16, pull=0.3):
        self.length, self.pull = length, pull

    def curves(self, count):
        out, value = [], torch.zeros(count)
        for _ in range(self.length):
            value = value - self.pull * value + 0.5 * torch.randn(count)
            out.append(value)
        return torch.stack(out, 1)


class Monitor:
    def __init__(self):
        self.distance, self.slope = [], []

    def critic(self, distance, slope):
        self.distance.append(distance.detach())
        self.slope.append(slope.detach().mean())

    def summary(self, last=3):
        return (f"distance {torch.stack(self.distance[-last:]).mean():.4f} "
                f"slope {torch.stack(self.slope[-last:]).mean():.4f}")


class WGAN:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator, self.critic = Generator(), Critic()
        self.slow = SlowCopy(self.generator)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=cfg.lr_generator, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=cfg.lr_critic, betas=(0.0, 0.9))
        self.monitor = Monitor()

    def slope(self, real, fake):
        """Length of the critic's gradient at points between real and fake."""
        share = torch.rand(len(real), 1)
        between = (share * real + (1 - share) * fake).requires_grad_(True)
        score = self.critic(between)
        (gradient,) = torch.autograd.grad(score.sum(), between, create_graph=True)
        return gradient.norm(dim=1)

    def update_critic(self, real, fake):
        score_real, score_fake = self.critic(real), self.critic(fake)
        distance = score_real.mean() - score_fake.mean()
        self.opt_c.zero_grad()
        (-distance + self.cfg.drift * score_real.pow(2).mean()).backward()
        slope = self.slope(real, fake)
        (self.cfg.penalty * (slope - 1).pow(2).mean()).backward()
        self.opt_c.step()
        self.monitor.critic(distance, slope)

    def update_generator(self, fake):
        self.critic.requires_grad_(False)
        loss = -self.critic(fake).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        self.critic.requires_grad_(True)
        self.slow.follow(self.generator)
        return loss.item()

    def round(self, market):
        fake = self.generator(self.cfg.batch)
        for _ in range(self.cfg.critic_updates):
            self.update_critic(market.curves(self.cfg.batch), fake.detach())
        return self.update_generator(fake)


def main():
    torch.manual_seed(29)
    cfg = Config()
    gan, market = WGAN(cfg), Market()
    for i in range(cfg.rounds):
        loss = gan.round(market)
        if i % 3 == 0:
            print(f"round {i:2d} generator {loss:.4f} {gan.monitor.summary()}")
    gan.generator.load_state_dict(gan.slow.weights)
    with torch.no_grad():
        print("spread of samples", round(gan.generator(100).std().item(), 3))


if __name__ == "__main__":
    main()
