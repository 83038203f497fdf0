"""Soft actor-critic for a thermostat, trained off-line from logged transitions."""
import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from nets import Critic, GaussianPolicy
from replay import ReplayBuffer


@dataclass
class Settings:
    obs_dim: int = 3
    act_dim: int = 1
    gamma: float = 0.97
    tau: float = 0.02
    alpha: float = 0.1
    lr: float = 1e-3
    batch: int = 64
    updates: int = 30
    seed: int = 19


class SACAgent:
    def __init__(self, s: Settings):
        self.s = s
        self.policy = GaussianPolicy(s.obs_dim, s.act_dim)
        self.q1, self.q2 = Critic(s.obs_dim, s.act_dim), Critic(s.obs_dim, s.act_dim)
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=s.lr)
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=s.lr)

    @torch.no_grad()
    def soft_target(self, reward, next_obs, noise):
        next_act, next_logp = self.policy(next_obs, noise)
        q_next = torch.min(self.q1_target(next_obs, next_act), self.q2_target(next_obs, next_act))
        return reward + self.s.gamma * (q_next - self.s.alpha * next_logp)

    @torch.no_grad()
    def track(self):
        for net, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
            for p, tp in zip(net.parameters(), target.parameters()):
                tp.lerp_(p, self.s.tau)

    def update(self, batch):
        """One SAC update: fit the critics to the soft Bellman target, then improve the
        policy against the critics just fitted, then let the target critics track them."""
        obs, act, reward, next_obs = batch
        noise = torch.randn_like(act)
        next_noise = torch.randn_like(act)

        target = self.soft_target(reward, next_obs, next_noise)
        q_loss = F.mse_loss(self.q1(obs, act), target) + F.mse_loss(self.q2(obs, act), target)

        new_act, logp = self.policy(obs, noise)

        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        q_new = torch.min(self.q1(obs, new_act), self.q2(obs, new_act))
        policy_loss = (self.s.alpha * logp - q_new).mean()
        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()

        self.track()
        return {"q_loss": q_loss.item(), "policy_loss": policy_loss.item(), "entropy": -logp.mean().item()}


def main():
    s = Settings()
    torch.manual_seed(s.seed)
    buffer = ReplayBuffer()
    agent = SACAgent(s)
    for u in range(s.updates):
        info = agent.update(buffer.sample(s.batch))
        if u % 10 == 0:
            print(u, {k: round(v, 4) for k, v in info.items()})


if __name__ == "__main__":
    main()
