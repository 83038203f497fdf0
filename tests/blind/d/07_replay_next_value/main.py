"""Q-learning on a corridor; targets are computed when a transition is met, and replayed."""
import random

import torch
from torch import nn

from memory import ReplayMemory, Transition

GAMMA = 0.9
N_CELLS = 6


class Corridor:
    def reset(self):
        self.cell = N_CELLS // 2
        return self.observe()

    def observe(self):
        return nn.functional.one_hot(torch.tensor(self.cell), N_CELLS).float()

    def step(self, action):
        self.cell += 1 if action == 1 else -1
        self.cell = max(0, min(N_CELLS - 1, self.cell))
        done = self.cell in (0, N_CELLS - 1)
        return self.observe(), 1.0 if self.cell == N_CELLS - 1 else 0.0, done


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(N_CELLS, 16), nn.ReLU(), nn.Linear(16, 2))
        self.optim = torch.optim.Adam(self.q.parameters(), lr=0.01)
        self.memory = ReplayMemory(capacity=40)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.q(state).argmax())

    def remember(self, state, action, reward, next_state, done):
        bootstrap = 0.0 if done else self.q(next_state).max()
        target = torch.as_tensor(reward) + GAMMA * bootstrap
        self.memory.push(Transition(state, action, target))

    def replay(self, batch_size=8):
        if len(self.memory) < batch_size:
            return None
        states, actions, targets = self.memory.sample(batch_size)
        values = self.q(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(values, targets)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(5)
    random.seed(5)
    env, agent = Corridor(), Agent()
    for episode in range(12):
        state, done, loss = env.reset(), False, None
        for _ in range(10):
            action = agent.act(state, epsilon=0.4)
            next_state, reward, done = env.step(action)
            agent.remember(state, action, reward, next_state, done)
            state = next_state
            loss = agent.replay()
            if done:
                break
        print(f"episode {episode}: loss {loss}")
