"""Double DQN with prioritised replay for a small inventory problem.

State: stock level, day of week, yesterday's demand. Action: order 0..4 boxes.
"""
import copy
import random
from collections import namedtuple

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(77)
random.seed(77)

Transition = namedtuple("Transition", "state action reward next_state")


class Shop:
    def __init__(self):
        self.stock, self.day, self.last = 5, 0, 2

    def state(self):
        return torch.tensor([self.stock / 10, self.day / 7, self.last / 5])

    def step(self, boxes):
        demand = random.randint(0, 3) + (2 if self.day >= 5 else 0)
        self.stock = min(self.stock + boxes, 10)
        sold = min(self.stock, demand)
        self.stock -= sold
        self.day = (self.day + 1) % 7
        self.last = demand
        return sold - 0.1 * self.stock - 0.3 * boxes - 0.5 * (demand - sold)


class PrioritisedReplay:
    def __init__(self, capacity=300, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.items, self.priority = [], torch.zeros(capacity)
        self.at = 0

    def add(self, item):
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.at] = item
        self.priority[self.at] = max(1.0, float(self.priority.max()))
        self.at = (self.at + 1) % self.capacity

    def sample(self, n):
        p = self.priority[:len(self.items)] ** self.alpha
        idx = torch.multinomial(p, n, replacement=True)
        prob = p[idx] / p.sum()
        importance = (len(self.items) * prob) ** -0.4
        return idx, [self.items[i] for i in idx.tolist()], importance / importance.max()

    def reprioritise(self, idx, td):
        self.priority[idx] = td.abs() + 1e-3


class DuelingQ(nn.Module):
    def __init__(self, n_actions=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(inplace=True))
        self.value = nn.Linear(32, 1)
        self.advantage = nn.Linear(32, n_actions)

    def forward(self, s):
        h = self.body(s)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=-1, keepdim=True)


class Learner:
    def __init__(self, gamma=0.9, lr=2e-3, tau=0.05):
        self.online = DuelingQ()
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.opt = torch.optim.RMSprop(self.online.parameters(), lr=lr)
        self.gamma, self.tau = gamma, tau

    @torch.no_grad()
    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(5)
        return int(self.online(state).argmax())

    def learn(self, replay, n=32):
        idx, items, importance = replay.sample(n)
        s = torch.stack([t.state for t in items])
        a = torch.tensor([t.action for t in items])
        r = torch.tensor([t.reward for t in items])
        s2 = torch.stack([t.next_state for t in items])

        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        best = self.online(s2).argmax(dim=1, keepdim=True)
        y = r + self.gamma * self.target(s2).gather(1, best).squeeze(1)
        td = y - q

        loss = (importance * F.huber_loss(q, y, reduction="none")).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 5.0)
        self.opt.step()
        self.opt.zero_grad()

        replay.reprioritise(idx, td.detach())
        with torch.no_grad():
            for p, tp in zip(self.online.parameters(), self.target.parameters()):
                tp.mul_(1 - self.tau).add_(p, alpha=self.tau)
        return loss.item()


def main():
    shop, replay, learner = Shop(), PrioritisedReplay(), Learner()
    income = 0.0
    for day in range(1, 141):
        state = shop.state()
        action = learner.act(state, epsilon=max(0.1, 1 - day / 80))
        reward = shop.step(action)
        replay.add(Transition(state, action, reward, shop.state()))
        income += reward
        if day > 40 and day % 2 == 0:
            loss = learner.learn(replay)
        if day % 35 == 0:
            print(f"day {day:3d}  income {income:7.2f}" + (f"  loss {loss:.4f}" if day > 41 else ""))
            income = 0.0


if __name__ == "__main__":
    main()
