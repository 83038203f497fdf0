"""PPO with a clipped objective on a continuous target-reaching task with one step per episode."""
import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianPolicy(nn.Module):
    def __init__(self, state=3, action=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(state, 32), nn.Tanh(), nn.Linear(32, action))
        self.log_std = nn.Parameter(torch.full((action,), -0.5))

    def forward(self, s):
        return Normal(self.body(s), self.log_std.exp())


def reward_of(s, a):
    goal = torch.stack([s[:, 0] - s[:, 1], s[:, 2].tanh()], 1)
    return -(a - goal).square().sum(1)


class PPO:
    def __init__(self, policy, lr=3e-3, clip=0.2, epochs=4):
        self.policy, self.clip, self.epochs = policy, clip, epochs
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)

    @torch.no_grad()
    def collect(self, n):
        s = torch.randn(n, 3)
        dist = self.policy(s)
        a = dist.sample()
        return s, a, dist.log_prob(a).sum(1), reward_of(s, a)

    def update(self, s, a, old_log_prob, reward):
        """Several epochs on the collected batch; the ratio compares the present policy with the one that collected it."""
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        for _ in range(self.epochs):
            dist = self.policy(s)
            log_prob = dist.log_prob(a).sum(1)
            entropy = dist.entropy().sum(1).mean()
            ratio = (log_prob - old_log_prob).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            surrogate = torch.minimum(ratio * advantage, clipped * advantage).mean()
            loss = -surrogate - 0.001 * entropy
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(55)
agent = PPO(GaussianPolicy())
rewards = []
for it in range(50):
    batch = agent.collect(128)
    agent.update(*batch)
    rewards.append(batch[-1].mean().item())
    if it % 10 == 9:
        print(f"iteration {it}: mean reward {sum(rewards[-10:]) / 10:.3f}")
