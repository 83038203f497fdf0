import torch
import torch.nn as nn
import torch.nn.functional as F


class WorldModel(nn.Module):
    """Latent state, its dynamics, and what it predicts: the observation and the reward."""

    def __init__(self, n_obs, n_act, n_latent=12, hidden=48):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(n_obs, hidden), nn.ELU(), nn.Linear(hidden, n_latent))
        self.transition = nn.Sequential(nn.Linear(n_latent + n_act, hidden), nn.ELU(), nn.Linear(hidden, n_latent))
        self.decode = nn.Linear(n_latent, n_obs)
        self.reward = nn.Sequential(nn.Linear(n_latent, hidden), nn.ELU(), nn.Linear(hidden, 1))

    def imagine(self, z, a):
        z = z + self.transition(torch.cat([z, a], -1))
        return z, self.reward(z).squeeze(-1)

    def loss(self, obs, act, rew):
        """obs [T+1, B, n], act [T, B, m], rew [T, B]"""
        z = self.encode(obs[0])
        total = F.mse_loss(self.decode(z), obs[0])
        for t in range(len(act)):
            z, r = self.imagine(z, act[t])
            total = total + F.mse_loss(self.decode(z), obs[t + 1]) + F.mse_loss(r, rew[t])
        return total / (len(act) + 1)


class Actor(nn.Module):
    def __init__(self, n_latent, n_act, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_latent, hidden), nn.ELU(), nn.Linear(hidden, n_act))

    def forward(self, z):
        return torch.tanh(self.net(z))


class Value(nn.Module):
    def __init__(self, n_latent, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_latent, hidden), nn.ELU(), nn.Linear(hidden, 1))

    def forward(self, z):
        return self.net(z).squeeze(-1)
