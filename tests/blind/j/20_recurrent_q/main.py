"""Recurrent Q-learning with stored states and a target network.

The agent sees a cue in the first cell of a corridor and must turn accordingly at its end.
Short windows are replayed together with the recurrent state the agent had at their start.
"""
import copy
import random
from collections import deque
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

CORRIDOR = 4


class Window(NamedTuple):
    obs: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor
    state: torch.Tensor


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, obs, state):
        state = self.cell(obs, state)
        return self.head(state), state

    def unroll(self, obs, state):
        values = []
        for o in obs.unbind(1):
            q, state = self(o, state)
            values.append(q)
        return torch.stack(values, 1)


def play(net, epsilon):
    """One episode; returns it as a single window with the state at its start."""
    cue = random.choice([-1.0, 1.0])
    state = torch.zeros(1, 16)
    start = state
    obs, actions, rewards = [], [], []
    for cell in range(CORRIDOR):
        o = torch.tensor([cue if cell == 0 else 0.0, cell / CORRIDOR, float(cell == CORRIDOR - 1)])
        with torch.no_grad():
            q, state = net(o.unsqueeze(0), state)
        action = random.randrange(2) if random.random() < epsilon else q.argmax().item()
        last = cell == CORRIDOR - 1
        reward = (1.0 if (action == 1) == (cue > 0) else -1.0) if last else 0.0
        obs.append(o)
        actions.append(action)
        rewards.append(reward)
    return Window(torch.stack(obs), torch.tensor(actions), torch.tensor(rewards), start.squeeze(0))


class Agent:
    def __init__(self, gamma=0.9, lr=1e-2, polyak=0.1):
        self.net = QNet()
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.memory = deque(maxlen=200)
        self.gamma = gamma
        self.polyak = polyak

    def learn(self, size=16):
        batch = random.sample(self.memory, size)
        obs, actions, rewards, state = (torch.stack(part) for part in zip(*batch))
        q = self.net.unroll(obs, state).gather(2, actions.unsqueeze(2)).squeeze(2)
        future = self.target.unroll(obs, state).max(2).values
        future = torch.cat([future[:, 1:], torch.zeros(size, 1)], 1)
        td = rewards + self.gamma * future - q
        loss = td.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.net.parameters()):
                slow.lerp_(fast, self.polyak)
        return loss, td.detach().abs().max()


def main():
    random.seed(20)
    torch.manual_seed(20)
    agent = Agent()
    for _ in range(40):
        agent.memory.append(play(agent.net, 1.0))
    losses = []
    for step in range(60):
        agent.memory.append(play(agent.net, max(0.1, 1 - step / 30)))
        loss, worst = agent.learn()
        losses.append(loss.item())
        if step % 12 == 0:
            print(f"step {step:2d} loss {losses[-1]:.4f} worst {worst:.3f}")
    print("score", sum(play(agent.net, 0.0).rewards.sum().item() for _ in range(20)) / 20)


if __name__ == "__main__":
    main()
