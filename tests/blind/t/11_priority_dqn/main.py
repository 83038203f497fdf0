"""DQN with prioritised replay on a small ring world."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

CELLS, GOAL, GAMMA = 8, 5, 0.9
EPISODES, HORIZON, BATCH = 6, 20, 16


class Ring:
    def reset(self):
        self.cell = random.randrange(CELLS)
        return self.encode()

    def encode(self):
        return F.one_hot(torch.tensor(self.cell), CELLS).float()

    def step(self, action):
        self.cell = (self.cell + (1, -1, 0)[action]) % CELLS
        return self.encode(), 1.0 if self.cell == GOAL else -0.05


class PrioritizedReplay:
    def __init__(self, capacity, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.items, self.priorities = [], []
        self.head = 0

    def __len__(self):
        return len(self.items)

    def add(self, item, priority):
        if len(self.items) < self.capacity:
            self.items.append(None)
            self.priorities.append(None)
        self.items[self.head] = item
        self.set_priority(self.head, priority)
        self.head = (self.head + 1) % self.capacity

    def set_priority(self, index, priority):
        self.priorities[index] = priority

    def sample(self, n):
        weights = [(p.item() + 1e-3) ** self.alpha for p in self.priorities]
        picks = random.choices(range(len(self.items)), weights=weights, k=n)
        return picks, [torch.stack(column) for column in zip(*(self.items[i] for i in picks))]


q_net = None
target_net = None


def build():
    return nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 3))


def td_errors(obs, action, reward, next_obs):
    value = q_net(obs).gather(-1, action.unsqueeze(-1)).squeeze(-1)
    with torch.no_grad():
        target = reward + GAMMA * target_net(next_obs).max(-1).values
    return target - value


def act(obs, epsilon):
    if random.random() < epsilon:
        return random.randrange(3)
    with torch.no_grad():
        return q_net(obs).argmax().item()


def main():
    global q_net, target_net
    random.seed(2)
    torch.manual_seed(2)
    q_net, target_net = build(), build()
    target_net.load_state_dict(q_net.state_dict())
    optimizer = torch.optim.Adam(q_net.parameters(), lr=5e-3)
    replay, env, moves = PrioritizedReplay(capacity=500), Ring(), 0

    for episode in range(EPISODES):
        obs, total, losses = env.reset(), 0.0, []
        for _ in range(HORIZON):
            action = act(obs, epsilon=max(0.1, 1.0 - 0.2 * episode))
            next_obs, reward = env.step(action)
            transition = (obs, torch.tensor(action), torch.tensor(reward), next_obs)
            replay.add(transition, td_errors(*transition).abs())
            obs, total, moves = next_obs, total + reward, moves + 1

            if len(replay) >= BATCH and moves % 2 == 0:
                picks, batch = replay.sample(BATCH)
                errors = td_errors(*batch)
                loss = errors.pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                for i, error in zip(picks, errors.abs()):
                    replay.set_priority(i, error)
        target_net.load_state_dict(q_net.state_dict())
        mean = sum(losses) / max(1, len(losses))
        print(f"episode {episode}: return {total:6.2f}  td loss {mean:.4f}  replay {len(replay)}")


if __name__ == "__main__":
    main()
