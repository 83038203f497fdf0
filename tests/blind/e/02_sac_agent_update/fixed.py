"""Soft actor-critic with a learned temperature on logged transitions of a small linear system."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    obs_dim: int = 4
    act_dim: int = 2
    gamma: float = 0.97
    tau: float = 0.02
    lr: float = 1e-3


def mlp(inp, hidden, out):
    return nn.Sequential(nn.Linear(inp, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, out))


class SACAgent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor = mlp(cfg.obs_dim, 32, 2 * cfg.act_dim)
        self.critics = nn.ModuleList(mlp(cfg.obs_dim + cfg.act_dim, 32, 1) for _ in range(2))
        self.targets = nn.ModuleList(mlp(cfg.obs_dim + cfg.act_dim, 32, 1) for _ in range(2))
        self.targets.load_state_dict(self.critics.state_dict())
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg.lr)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=cfg.lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=cfg.lr)

    def sample(self, obs):
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        return action, (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1, keepdim=True)

    def q_min(self, nets, obs, action):
        both = torch.cat([obs, action], dim=-1)
        return torch.min(nets[0](both), nets[1](both))

    def critic_loss(self, obs, action, reward, next_obs):
        with torch.no_grad():
            next_action, log_prob = self.sample(next_obs)
            soft = self.q_min(self.targets, next_obs, next_action) - self.log_alpha.exp() * log_prob
        both = torch.cat([obs, action], dim=-1)
        return sum(F.mse_loss(critic(both), reward + self.cfg.gamma * soft) for critic in self.critics)

    def policy_loss(self, obs):
        action, log_prob = self.sample(obs)
        value = self.q_min(self.critics, obs, action)
        return (self.log_alpha.exp().detach() * log_prob - value).mean(), log_prob.detach()

    @staticmethod
    def descend(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def update(self, batch):
        """One step on the critics, then one on the policy against the new critics, then on the temperature."""
        critic_loss = self.critic_loss(*batch)
        self.descend(self.critic_opt, critic_loss)
        policy_loss, log_prob = self.policy_loss(batch[0])
        alpha_loss = -(self.log_alpha * (log_prob - self.cfg.act_dim)).mean()
        self.descend(self.actor_opt, policy_loss)
        self.descend(self.alpha_opt, alpha_loss)
        with torch.no_grad():
            for target, param in zip(self.targets.parameters(), self.critics.parameters()):
                target.lerp_(param, self.cfg.tau)
        return {"critic": critic_loss.item(), "policy": policy_loss.item(), "alpha": self.log_alpha.exp().item()}


def logged_transitions(cfg, count=800):
    obs = torch.randn(count, cfg.obs_dim)
    action = torch.rand(count, cfg.act_dim) * 2 - 1
    next_obs = 0.9 * obs + 0.3 * action @ torch.randn(cfg.act_dim, cfg.obs_dim)
    return obs, action, -next_obs.pow(2).mean(-1, keepdim=True), next_obs


if __name__ == "__main__":
    torch.manual_seed(5)
    cfg = Config()
    data = logged_transitions(cfg)
    agent = SACAgent(cfg)
    for step in range(60):
        pick = torch.randint(0, len(data[0]), (64,))
        stats = agent.update([part[pick] for part in data])
        if step % 15 == 14:
            print(step, " ".join(f"{name}={value:.4f}" for name, value in stats.items()))
