"""REINFORCE with a moving-average baseline on a little corridor."""
import argparse

import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    """Walk from the middle to the right end; left end is a pit."""

    def __init__(self, length=7, max_steps=25):
        self.length = length
        self.max_steps = max_steps

    def reset(self):
        self.pos = self.length // 2
        self.t = 0
        return self._obs()

    def _obs(self):
        one_hot = torch.zeros(self.length)
        one_hot[self.pos] = 1.0
        return one_hot

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.t += 1
        if self.pos == self.length - 1:
            return self._obs(), 1.0, True
        if self.pos == 0:
            return self._obs(), -1.0, True
        return self._obs(), -0.02, self.t >= self.max_steps


class Policy(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))

    def act(self, obs):
        dist = self(obs)
        action = dist.sample()
        return action.item(), dist.log_prob(action)


def discounted(rewards, gamma):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    return torch.tensor(out)


def play(env, policy):
    log_probs, rewards = [], []
    obs, done = env.reset(), False
    while not done:
        action, log_prob = policy.act(obs)
        obs, reward, done = env.step(action)
        log_probs.append(log_prob)
        rewards.append(reward)
    return log_probs, rewards


def train(args):
    torch.manual_seed(args.seed)
    env = Corridor()
    policy = Policy(env.length, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)
    baseline = 0.0
    for update in range(args.updates):
        losses, scores = [], []
        for _ in range(args.episodes):
            log_probs, rewards = play(env, policy)
            returns = discounted(rewards, args.gamma)
            losses.append(-(torch.stack(log_probs) * (returns - baseline)).sum())
            scores.append(sum(rewards))
        mean_score = sum(scores) / len(scores)
        baseline = 0.9 * baseline + 0.1 * mean_score
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 5 == 0:
            print(f"update {update:3d} loss {loss.item():.4f} score {mean_score:.3f}")
    print(f"last score {mean_score:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
