"""REINFORCE on a little corridor: walk right to reach the goal."""
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.place = 0
        return self.observe()

    def observe(self):
        state = torch.zeros(self.length)
        state[self.place] = 1.0
        return state

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        done = self.place == self.length - 1
        return (torch.zeros(self.length) if done else self.observe()), (1.0 if done else -0.05), done


class Agent:
    def __init__(self, states, actions, lr=0.05, gamma=0.97):
        self.policy = nn.Sequential(nn.Linear(states, 16), nn.Tanh(), nn.Linear(16, actions))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.log_probs, self.rewards = [], []

    def act(self, state):
        dist = Categorical(logits=self.policy(state))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return action.item()

    def learn(self):
        returns, g = [], 0.0
        for r in reversed(self.rewards):
            g = r + self.gamma * g
            returns.insert(0, g)
        returns = torch.tensor(returns)
        log_probs = torch.stack(self.log_probs)
        loss = -(log_probs * (returns - returns.mean())).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs, self.rewards = [], []
        return loss.item()


torch.manual_seed(70)
env, agent = Corridor(), Agent(6, 2)
lengths = []
for episode in range(60):
    state = env.reset()
    for t in range(40):
        state, reward, done = env.step(agent.act(state))
        agent.rewards.append(reward)
        if done:
            break
    lengths.append(t + 1)
    agent.learn()
    if episode % 15 == 14:
        print(f"episode {episode}: mean length {sum(lengths[-15:]) / 15:.1f}")
