"""REINFORCE on a small corridor: walk right to the goal, each step costs a little."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(11)

LENGTH = 6
MAX_STEPS = 20
GAMMA = 0.97


class Corridor:
    def reset(self):
        self.pos, self.t = 0, 0
        return self.observe()

    def observe(self):
        return nn.functional.one_hot(torch.tensor(self.pos), LENGTH).float()

    def step(self, action):
        self.pos = min(max(self.pos + (1 if action == 1 else -1), 0), LENGTH - 1)
        self.t += 1
        done = self.pos == LENGTH - 1 or self.t >= MAX_STEPS
        reward = 1.0 if self.pos == LENGTH - 1 else -0.05
        return self.observe(), reward, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


def run_episode(env, policy):
    log_probs, rewards = [], []
    obs, done = env.reset(), False
    while not done:
        dist = policy(obs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward, done = env.step(action.item())
        rewards.append(reward)
    return log_probs, rewards


def discounted(rewards):
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + GAMMA * g
        returns.insert(0, g)
    return torch.tensor(returns)


env, policy = Corridor(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
baseline = 0.0

for episode in range(60):
    log_probs, rewards = run_episode(env, policy)
    returns = discounted(rewards)
    advantage = returns - baseline
    baseline = 0.9 * baseline + 0.1 * returns[0].item()

    log_probs = torch.stack(log_probs)
    loss = -(log_probs * advantage).sum()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 10 == 0:
        print(f"episode {episode:2d}  steps {len(rewards):2d}  return {sum(rewards):.2f}")
