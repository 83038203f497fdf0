"""Model-based control of a two-joint arm.

A world model is fitted to real transitions only; the policy is trained by
propagating the cost of imagined rollouts through the world model. Both have
their own optimizer and are updated in turn.
"""
from collections import deque
import random

import torch
import torch.nn as nn

torch.manual_seed(2)
random.seed(2)

STATE, ACTION, HORIZON = 4, 2, 8


class WorldModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE + ACTION, width), nn.Tanh(), nn.Linear(width, STATE))

    def forward(self, state, action):
        return state + self.net(torch.cat([state, action], dim=-1))


class Policy(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE, width), nn.Tanh(), nn.Linear(width, ACTION), nn.Tanh())

    def forward(self, state):
        return self.net(state)


class Arm:
    """Real dynamics: joint angles and velocities under torque."""

    def reset(self, n):
        return torch.cat([torch.rand(n, 2) * 2 - 1, torch.zeros(n, 2)], dim=-1)

    def step(self, state, torque):
        angle, velocity = state.split(2, dim=-1)
        velocity = 0.95 * velocity + 0.15 * torque - 0.05 * torch.sin(angle)
        return torch.cat([angle + 0.2 * velocity, velocity], dim=-1)


class Agent:
    def __init__(self):
        self.model = WorldModel()
        self.policy = Policy()
        self.model_opt = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.buffer = deque(maxlen=200)

    @torch.no_grad()
    def collect(self, arm, n=16, steps=10):
        state = arm.reset(n)
        for _ in range(steps):
            action = (self.policy(state) + 0.3 * torch.randn(n, ACTION)).clamp(-1, 1)
            following = arm.step(state, action)
            self.buffer.append((state, action, following))
            state = following

    def sample(self, k=8):
        return [torch.cat(part) for part in zip(*random.sample(self.buffer, k))]

    def update_model(self):
        state, action, following = self.sample()
        model_loss = (self.model(state, action) - following).pow(2).mean()
        model_loss.backward()
        self.model_opt.step()
        self.model_opt.zero_grad()
        return model_loss.item()

    def update_policy(self):
        state, _, _ = self.sample()
        cost = 0.0
        for _ in range(HORIZON):
            action = self.policy(state)
            state = self.model(state, action)
            cost = cost + state[:, :2].pow(2).sum(-1).mean() + 0.01 * action.pow(2).sum(-1).mean()
        cost = cost / HORIZON
        cost.backward()
        self.policy_opt.step()
        self.policy_opt.zero_grad()
        return cost.item()


arm, agent = Arm(), Agent()
for episode in range(12):
    agent.collect(arm)
    for _ in range(10):
        model_loss = agent.update_model()
        cost = agent.update_policy()
    print(f"episode {episode:2d}  model loss {model_loss:.5f}  imagined cost {cost:.4f}")
