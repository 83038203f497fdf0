"""REINFORCE with a value-free baseline on a two-armed contextual task."""
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

GAMMA = 0.9


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(16, 3)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


class Env:
    """Reward 1 for naming the largest of the first three inputs; episodes have 6 steps."""

    def reset(self):
        self.left = 6
        self.obs = torch.randn(4)
        return self.obs

    def step(self, action):
        reward = 1.0 if action == int(self.obs[:3].argmax()) else 0.0
        self.obs = torch.randn(4)
        self.left -= 1
        return self.obs, reward, self.left == 0


torch.manual_seed(543)
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=2e-2)
env = Env()


def select_action(state):
    probs = policy(state.unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R, returns, policy_loss = 0, [], []
    for r in policy.rewards[::-1]:
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    loss = torch.cat(policy_loss).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]


def main():
    running = 2.0
    for i_episode in count(1):
        state, ep_reward, done = env.reset(), 0.0, False
        while not done:
            state, reward, done = env.step(select_action(state))
            policy.rewards.append(reward)
            ep_reward += reward
        running = 0.05 * ep_reward + 0.95 * running
        finish_episode()
        if i_episode % 20 == 0:
            print(f"Episode {i_episode}\tlast {ep_reward:.1f}\taverage {running:.3f}")
        if i_episode == 100:
            break


if __name__ == "__main__":
    main()
