import torch
from torch import nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=32):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, act_dim))
        self.vf = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())

    def act(self, obs):
        dist = self.dist(obs)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)

    def value(self, obs):
        return self.vf(obs).squeeze(-1)
