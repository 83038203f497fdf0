# REINFORCE for an elevator with one cabin and waiting passengers
import random

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)
random.seed(42)

FLOORS = 5
ACTIONS = 3          # 0 = down, 1 = stay and open the doors, 2 = up
MAX_STEPS = 25
GAMMA = 0.95


class Elevator:
    def reset(self):
        self.cabin = 0
        self.waiting = [random.random() < 0.5 for _ in range(FLOORS)]
        return self._state()

    def _state(self):
        state = [0.0] * FLOORS
        state[self.cabin] = 1.0
        return torch.tensor(state + [float(w) for w in self.waiting])

    def step(self, action):
        reward = -0.1 * sum(self.waiting)
        if action == 0:
            self.cabin = max(0, self.cabin - 1)
        elif action == 2:
            self.cabin = min(FLOORS - 1, self.cabin + 1)
        elif self.waiting[self.cabin]:
            self.waiting[self.cabin] = False
            reward += 1.0
        if random.random() < 0.1:
            self.waiting[random.randrange(FLOORS)] = True
        return self._state(), reward


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2 * FLOORS, 64)
        self.fc2 = nn.Linear(64, ACTIONS)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return torch.softmax(self.fc2(x), dim=-1)


env = Elevator()
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=0.01)


def select_action(state):
    probs = policy(state)
    m = torch.distributions.Categorical(probs)
    action = m.sample()
    return action.item(), m.log_prob(action)


def discounted(rewards):
    returns = []
    R = 0.0
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


history = []
for episode in range(100):
    state = env.reset()
    memory = []
    for t in range(MAX_STEPS):
        action, log_prob = select_action(state)
        next_state, reward = env.step(action)
        memory.append((state, log_prob, reward))
        state = next_state

    returns = discounted([m[2] for m in memory])
    log_probs = torch.stack([m[1] for m in memory])
    loss = -(log_probs * returns).sum()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    history.append(sum(m[2] for m in memory))
    if (episode + 1) % 20 == 0:
        print("episode", episode + 1, "mean reward", round(sum(history[-20:]) / 20, 3),
              "loss", round(loss.item(), 3))
