"""Logged transitions of a heating controller: (indoor, outdoor, setpoint) and valve position."""
import torch


class ReplayBuffer:
    def __init__(self, size=400):
        obs = torch.randn(size, 3)
        act = torch.rand(size, 1) * 2 - 1
        indoor = obs[:, 0] + 0.3 * act[:, 0] + 0.1 * (obs[:, 1] - obs[:, 0])
        self.obs, self.act = obs, act
        self.reward = -(indoor - obs[:, 2]).abs() - 0.05 * act[:, 0].abs()
        self.next_obs = torch.stack([indoor, obs[:, 1] + 0.05 * torch.randn(size), obs[:, 2]], dim=1)

    def sample(self, n):
        i = torch.randint(0, len(self.obs), (n,))
        return self.obs[i], self.act[i], self.reward[i], self.next_obs[i]
