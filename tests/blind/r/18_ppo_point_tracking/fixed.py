"""PPO on a batch of simulated carts that follow a moving target."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Normal


@dataclass
class Config:
    n_envs: int = 16
    horizon: int = 24
    updates: int = 15
    epochs: int = 4
    gamma: float = 0.97
    lam: float = 0.95
    clip: float = 0.2
    lr: float = 3e-3
    value_coef: float = 0.5
    entropy_coef: float = 0.005
    seed: int = 7


class CartEnv:
    """Position, velocity and the target's offset; the action is a force."""

    def __init__(self, n, generator):
        self.n, self.g = n, generator
        self.reset()

    def reset(self):
        self.pos = torch.randn(self.n, generator=self.g)
        self.vel = torch.zeros(self.n)
        self.target = torch.randn(self.n, generator=self.g)
        return self.obs()

    def obs(self):
        return torch.stack([self.pos, self.vel, self.target - self.pos], dim=1)

    def step(self, force):
        self.vel = 0.9 * self.vel + 0.2 * force.clamp(-2, 2)
        self.pos = self.pos + 0.2 * self.vel
        self.target = self.target + 0.05 * torch.randn(self.n, generator=self.g)
        reward = -(self.target - self.pos).abs() - 0.01 * force.pow(2)
        return self.obs(), reward


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=3, hidden=48):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.v = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def dist(self, obs):
        return Normal(self.pi(obs).squeeze(-1), self.log_std.exp())

    def value(self, obs):
        return self.v(obs).squeeze(-1)


class PPO:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.env = CartEnv(cfg.n_envs, torch.Generator().manual_seed(cfg.seed))
        self.net = ActorCritic()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def collect(self):
        """One rollout of the behaviour policy, with its log-probabilities and values."""
        obs = self.env.reset()
        buf = {k: [] for k in ("obs", "act", "logp", "rew", "val")}
        for _ in range(self.cfg.horizon):
            dist = self.net.dist(obs)
            action = dist.sample()
            buf["obs"].append(obs)
            buf["act"].append(action)
            buf["logp"].append(dist.log_prob(action))
            buf["val"].append(self.net.value(obs))
            obs, reward = self.env.step(action)
            buf["rew"].append(reward)
        buf["val"].append(self.net.value(obs))
        return {k: torch.stack(v) for k, v in buf.items()}

    def gae(self, rew, val):
        adv, last = [], torch.zeros(self.cfg.n_envs)
        for t in reversed(range(self.cfg.horizon)):
            delta = rew[t] + self.cfg.gamma * val[t + 1] - val[t]
            last = delta + self.cfg.gamma * self.cfg.lam * last
            adv.insert(0, last)
        adv = torch.stack(adv)
        return adv, adv + val[:-1]

    def update(self, buf):
        cfg = self.cfg
        adv, ret = self.gae(buf["rew"], buf["val"])
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(cfg.epochs):
            dist = self.net.dist(buf["obs"])
            ratio = (dist.log_prob(buf["act"]) - buf["logp"]).exp()
            clipped = ratio.clamp(1 - cfg.clip, 1 + cfg.clip)
            pi_loss = -torch.min(ratio * adv, clipped * adv).mean()
            v_loss = (self.net.value(buf["obs"]) - ret).pow(2).mean()
            loss = pi_loss + cfg.value_coef * v_loss - cfg.entropy_coef * dist.entropy().mean()
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
            self.opt.step()
        return pi_loss.item(), v_loss.item()

    def train(self):
        for it in range(self.cfg.updates):
            buf = self.collect()
            pi_loss, v_loss = self.update(buf)
            if it % 3 == 0:
                print(f"update {it:3d}  reward {buf['rew'].mean().item():.3f}  "
                      f"pi {pi_loss:.4f}  v {v_loss:.4f}")


if __name__ == "__main__":
    PPO(Config()).train()
