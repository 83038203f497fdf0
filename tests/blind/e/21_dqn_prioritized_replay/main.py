"""Double DQN with prioritized replay on a small corridor."""
import random
from collections import namedtuple

import torch
import torch.nn as nn

Transition = namedtuple("Transition", "state action reward next_state done")


class Corridor:
    size = 8

    def reset(self):
        self.pos, self.time = 0, 0
        return self.observe()

    def observe(self):
        return torch.eye(self.size)[self.pos]

    def step(self, action):
        self.pos = max(0, min(self.size - 1, self.pos + (1 if action == 1 else -1)))
        self.time += 1
        goal = self.pos == self.size - 1
        return self.observe(), 1.0 if goal else -0.02, goal or self.time >= 20


class PrioritizedReplay:
    def __init__(self, capacity, exponent=0.6):
        self.capacity, self.exponent = capacity, exponent
        self.items, self.priorities = [], []

    def push(self, transition):
        if len(self.items) >= self.capacity:
            self.items.pop(0)
            self.priorities.pop(0)
        self.items.append(transition)
        self.priorities.append(max(self.priorities, default=torch.tensor(1.0)))

    def sample(self, count, beta=0.4):
        p = torch.tensor([p.item() ** self.exponent for p in self.priorities])
        p = p / p.sum()
        index = torch.multinomial(p, count, replacement=True)
        weights = (len(p) * p[index]).pow(-beta)
        return index.tolist(), [self.items[i] for i in index.tolist()], weights / weights.max()

    def reprioritize(self, index, errors):
        for i, error in zip(index, errors):
            self.priorities[i] = error.abs() + 1e-3


def learn(online, target, optimizer, replay, batch_size, gamma=0.95):
    index, batch, weights = replay.sample(batch_size)
    state, next_state = (torch.stack([getattr(t, k) for t in batch]) for k in ("state", "next_state"))
    action, reward, done = (torch.tensor([getattr(t, k) for t in batch]) for k in ("action", "reward", "done"))
    with torch.no_grad():
        best = online(next_state).argmax(1, keepdim=True)
        goal = reward + gamma * ~done * target(next_state).gather(1, best).squeeze(1)
    errors = goal - online(state).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = (weights * errors.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    replay.reprioritize(index, errors)
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(19)
    random.seed(19)
    online, target = (nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
    env, replay = Corridor(), PrioritizedReplay(capacity=400)
    for episode in range(30):
        state, done, score, losses = env.reset(), False, 0.0, []
        while not done:
            with torch.no_grad():
                greedy = online(state).argmax().item()
            action = random.randrange(2) if random.random() < max(0.1, 1 - episode / 15) else greedy
            next_state, reward, done = env.step(action)
            replay.push(Transition(state, action, reward, next_state, done))
            state, score = next_state, score + reward
            if len(replay.items) >= 64:
                losses.append(learn(online, target, optimizer, replay, batch_size=32))
        target.load_state_dict(online.state_dict())
        if episode % 6 == 5:
            print(f"episode {episode + 1}: score {score:.2f} loss {sum(losses) / max(1, len(losses)):.5f}")
