import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description="REINFORCE in a windy corridor")
parser.add_argument("--gamma", type=float, default=0.97)
parser.add_argument("--episodes", type=int, default=24)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=5)
args = parser.parse_args()
torch.manual_seed(args.seed)


class Corridor:
    """Walk from cell 0 to the last cell; wind sometimes pushes one cell back."""

    def __init__(self, length=5, limit=30, wind=0.05):
        self.length, self.limit, self.wind = length, limit, wind

    def reset(self):
        self.pos, self.t = 0, 0
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.pos), self.length).float()

    def step(self, action):
        self.t += 1
        self.pos += 1 if action == 1 else -1
        if torch.rand(()) < self.wind:
            self.pos -= 1
        self.pos = max(0, min(self.pos, self.length - 1))
        arrived = self.pos == self.length - 1
        return self.observe(), (10.0 if arrived else -0.1), arrived or self.t >= self.limit


class Policy(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.affine1 = nn.Linear(n_obs, 32)
        self.affine2 = nn.Linear(32, n_actions)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(torch.tanh(self.affine1(x))), dim=-1)


env = Corridor()
policy = Policy(env.length, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)


def select_action(obs):
    dist = Categorical(policy(obs))
    action = dist.sample()
    policy.saved_log_probs.append(dist.log_prob(action))
    return action.item()


def finish_episode():
    R, returns = 0.0, []
    for r in reversed(policy.rewards):
        R = r + args.gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    policy_loss = torch.stack([-lp * R for lp, R in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    policy_loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    policy.rewards.clear()
    return policy_loss.item()


def main():
    for episode in range(args.episodes):
        obs, done, total, steps = env.reset(), False, 0.0, 0
        while not done:
            obs, reward, done = env.step(select_action(obs))
            policy.rewards.append(reward)
            total += reward
            steps += 1
        loss = finish_episode()
        if episode % 4 == 0:
            print(f"episode {episode:3d}  reward {total:6.2f}  steps {steps:3d}  loss {loss:.3f}")


if __name__ == "__main__":
    main()
