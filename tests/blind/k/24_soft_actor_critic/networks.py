import math

import torch
import torch.nn as nn
import torch.nn.functional as F

LOG_STD_MIN, LOG_STD_MAX = -5, 2


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class TwinQ(nn.Module):
    def __init__(self, obs, act, width=24):
        super().__init__()
        self.q1 = mlp([obs + act, width, 1])
        self.q2 = mlp([obs + act, width, 1])

    def forward(self, s, a):
        sa = torch.cat([s, a], dim=-1)
        return self.q1(sa), self.q2(sa)


class GaussianPolicy(nn.Module):
    def __init__(self, obs, act, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, width), nn.ReLU())
        self.mean = nn.Linear(width, act)
        self.log_std = nn.Linear(width, act)

    def forward(self, s):
        h = self.body(s)
        return self.mean(h), self.log_std(h).clamp(LOG_STD_MIN, LOG_STD_MAX)

    def sample(self, s):
        """Squashed action and its log-probability, reparameterised."""
        mean, log_std = self(s)
        noise = torch.randn_like(mean)
        u = mean + log_std.exp() * noise
        log_prob = (-0.5 * noise ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1, keepdim=True)
        log_prob = log_prob - (2 * (math.log(2) - u - F.softplus(-2 * u))).sum(-1, keepdim=True)
        return torch.tanh(u), log_prob
