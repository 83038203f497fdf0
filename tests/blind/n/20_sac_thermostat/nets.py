import torch
from torch import nn
import torch.nn.functional as F


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim + act_dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.q = nn.Linear(hidden, 1)

    def forward(self, obs, act):
        h = F.relu(self.fc1(torch.cat([obs, act], dim=1)))
        return self.q(F.relu(self.fc2(h))).squeeze(1)


class GaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=32):
        super().__init__()
        self.body = nn.Linear(obs_dim, hidden)
        self.mean = nn.Linear(hidden, act_dim)
        self.log_std = nn.Linear(hidden, act_dim)

    def forward(self, obs, noise):
        """Squashed Gaussian action and its log-probability, from standard normal noise."""
        h = F.relu(self.body(obs))
        mean, log_std = self.mean(h), self.log_std(h).clamp(-4, 1)
        raw = mean + log_std.exp() * noise
        act = torch.tanh(raw)
        logp = (-0.5 * noise ** 2 - log_std - 0.919).sum(1) - torch.log(1 - act ** 2 + 1e-6).sum(1)
        return act, logp
