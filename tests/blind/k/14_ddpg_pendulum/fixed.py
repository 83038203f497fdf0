"""DDPG on a toy one-dimensional regulator (Lillicrap et al., algorithm 1).

Per update: first the critic takes its TD step, then the actor ascends the value
that the *updated* critic gives to its actions, then the targets move.
"""
import copy
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "obs act rew nxt")


class Regulator:
    """Keep a noisy double integrator near the origin."""

    def __init__(self):
        self.state = torch.zeros(2)

    def reset(self):
        self.state = torch.randn(2)
        return self.state

    def step(self, action):
        x, v = self.state
        v = 0.95 * v + 0.2 * action
        x = x + 0.2 * v
        self.state = torch.stack([x, v])
        return self.state, -(x ** 2 + 0.1 * v ** 2 + 0.01 * action ** 2)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())

    def forward(self, s):
        return 2 * self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


class Replay:
    def __init__(self, size=500):
        self.items = deque(maxlen=size)

    def push(self, *fields):
        self.items.append(Transition(*fields))

    def sample(self, n):
        batch = random.sample(list(self.items), n)
        return Transition(*(torch.stack(f) for f in zip(*batch)))


class DDPG:
    gamma, tau = 0.97, 0.02

    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.target_actor = copy.deepcopy(self.actor)
        self.target_critic = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    @torch.no_grad()
    def act(self, s, noise=0.3):
        return self.actor(s[None])[0] + noise * torch.randn(1)

    def critic_loss(self, b):
        with torch.no_grad():
            q_next = self.target_critic(b.nxt, self.target_actor(b.nxt))
            y = b.rew + self.gamma * q_next
        return F.mse_loss(self.critic(b.obs, b.act), y)

    def actor_loss(self, b):
        return -self.critic(b.obs, self.actor(b.obs)).mean()

    def update(self, b):
        critic_loss = self.critic_loss(b)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = self.actor_loss(b)
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        self.soft_update(self.target_actor, self.actor)
        self.soft_update(self.target_critic, self.critic)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def soft_update(self, target, online):
        for t, o in zip(target.parameters(), online.parameters()):
            t.lerp_(o, self.tau)


def main():
    torch.manual_seed(1)
    random.seed(1)
    env, agent, memory = Regulator(), DDPG(), Replay()
    s = env.reset()
    for t in range(60):
        a = agent.act(s)
        s2, r = env.step(a[0])
        memory.push(s, a, r[None], s2)
        s = env.reset() if t % 20 == 19 else s2
        if len(memory.items) >= 32:
            critic_loss, actor_loss = agent.update(memory.sample(16))
    print(f"critic {critic_loss:.4f} actor {actor_loss:.4f}")


if __name__ == "__main__":
    main()
