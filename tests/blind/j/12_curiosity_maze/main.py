"""Curious agent in a corridor.

A forward model learns to predict the next observation. Where it is surprised, the agent gets
a bonus on top of the reward of the corridor. The policy is trained with REINFORCE on the
returns, which are plain numbers for it; the forward model only learns to predict.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

LENGTH = 9


@dataclass
class Config:
    episodes: int = 30
    horizon: int = 12
    gamma: float = 0.95
    bonus: float = 0.5
    lr_policy: float = 0.02
    lr_model: float = 0.01


def observe(cell):
    return F.one_hot(torch.tensor(cell), LENGTH).float()


def move(cell, action):
    cell = min(max(cell + (1 if action == 1 else -1), 0), LENGTH - 1)
    return cell, 1.0 if cell == LENGTH - 1 else 0.0


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.net(obs))


class ForwardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH + 2, 24), nn.ReLU(), nn.Linear(24, LENGTH))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, F.one_hot(action, 2).float()], -1))


def run_episode(policy, model, cfg):
    cell = 1
    log_probs, rewards, surprises = [], [], []
    for _ in range(cfg.horizon):
        obs = observe(cell)
        dist = policy(obs)
        action = dist.sample()
        cell, reward = move(cell, action.item())
        surprise = F.mse_loss(model(obs, action), observe(cell))
        log_probs.append(dist.log_prob(action))
        rewards.append(reward + cfg.bonus * surprise)
        surprises.append(surprise)
        if reward > 0:
            break
    return torch.stack(log_probs), rewards, torch.stack(surprises)


def discounted(rewards, gamma):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.stack(out[::-1])


def main():
    torch.manual_seed(12)
    cfg = Config()
    policy, model = Policy(), ForwardModel()
    opt_policy = torch.optim.Adam(policy.parameters(), lr=cfg.lr_policy)
    opt_model = torch.optim.Adam(model.parameters(), lr=cfg.lr_model)

    for episode in range(cfg.episodes):
        log_probs, rewards, surprises = run_episode(policy, model, cfg)
        returns = discounted(rewards, cfg.gamma)

        model_loss = surprises.mean()
        opt_model.zero_grad()
        model_loss.backward()
        opt_model.step()

        policy_loss = -(log_probs * (returns - returns.mean())).sum()
        opt_policy.zero_grad()
        policy_loss.backward()
        opt_policy.step()

        if episode % 6 == 0:
            print(f"episode {episode:2d} steps {len(rewards):2d} surprise {model_loss.item():.4f}")


if __name__ == "__main__":
    main()
