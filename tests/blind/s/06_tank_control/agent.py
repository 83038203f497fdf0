import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(sizes, out_act=None):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    if out_act is not None:
        layers.append(out_act)
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.net = mlp([obs_dim, hidden, hidden, act_dim], nn.Tanh())

    def forward(self, obs):
        return self.net(obs)


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.net = mlp([obs_dim + act_dim, hidden, hidden, 1])

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1)).squeeze(-1)


class ControlAgent:
    """Deterministic actor-critic with slowly moving copies for the bootstrap value."""

    def __init__(self, obs_dim, act_dim, hidden=48, gamma=0.95, tau=0.05, actor_lr=1e-3, critic_lr=3e-3):
        self.gamma, self.tau = gamma, tau
        self.actor = Actor(obs_dim, act_dim, hidden)
        self.critic = Critic(obs_dim, act_dim, hidden)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=actor_lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=critic_lr)

    @torch.no_grad()
    def act(self, obs, noise=0.0):
        a = self.actor(obs)
        return (a + noise * torch.randn_like(a)).clamp(-1, 1)

    def update(self, batch):
        obs, act, rew, nxt, done = batch
        with torch.no_grad():
            q_next = self.critic_target(nxt, self.actor_target(nxt))
            target = rew + self.gamma * (1 - done) * q_next

        critic_loss = F.mse_loss(self.critic(obs, act), target)
        critic_loss.backward()
        self.critic_opt.step()
        self.critic_opt.zero_grad()

        actor_loss = -self.critic(obs, self.actor(obs)).mean()
        actor_loss.backward()
        self.actor_opt.step()
        self.actor_opt.zero_grad()

        self.soft_update(self.critic_target, self.critic)
        self.soft_update(self.actor_target, self.actor)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def soft_update(self, target, source):
        for t, s in zip(target.parameters(), source.parameters()):
            t.lerp_(s, self.tau)
