import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(inp, out, hidden=48):
    return nn.Sequential(nn.Linear(inp, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, out))


class ReplayBuffer:
    def __init__(self, capacity=5000):
        self.data = deque(maxlen=capacity)

    def add(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        return tuple(torch.stack(column) for column in zip(*random.sample(self.data, n)))


class TwinCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.q1 = mlp(obs_dim + act_dim, 1)
        self.q2 = mlp(obs_dim + act_dim, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class TD3:
    """Twin delayed DDPG; the actor and the targets move every second critic step."""

    def __init__(self, obs_dim, act_dim, gamma=0.97, tau=0.01, noise=0.2, clip=0.4, delay=2, lr=1e-3):
        self.actor = mlp(obs_dim, act_dim)
        self.critic = TwinCritic(obs_dim, act_dim)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.gamma, self.tau, self.noise, self.clip, self.delay = gamma, tau, noise, clip, delay
        self.steps = 0
        self.last_actor_loss = None

    def policy(self, net, obs):
        return torch.tanh(net(obs))

    def act(self, obs, explore=0.2):
        action = self.policy(self.actor, obs).detach()
        return (action + explore * torch.randn_like(action)).clamp(-1, 1)

    def update(self, batch):
        obs, act, rew, nxt = batch
        with torch.no_grad():
            eps = (self.noise * torch.randn_like(act)).clamp(-self.clip, self.clip)
            nxt_act = (self.policy(self.actor_target, nxt) + eps).clamp(-1, 1)
            target = rew + self.gamma * torch.min(*self.critic_target(nxt, nxt_act))

        q1, q2 = self.critic(obs, act)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        self.steps += 1
        if self.steps % self.delay == 0:
            actor_loss = -self.critic(obs, self.policy(self.actor, obs))[0].mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()
            self.last_actor_loss = actor_loss.item()
            self.polyak(self.actor, self.actor_target)
            self.polyak(self.critic, self.critic_target)
        return critic_loss.item()

    def polyak(self, source, target):
        for s, t in zip(source.parameters(), target.parameters()):
            t.data.lerp_(s.data, self.tau)
