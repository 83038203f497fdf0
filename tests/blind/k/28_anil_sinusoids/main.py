"""Meta-train ANIL on sinusoid regression."""
from collections import defaultdict

import torch

from episodes import sinusoid
from learner import ANIL


class History:
    def __init__(self):
        self.rows = defaultdict(list)

    def add(self, **values):
        for k, v in values.items():
            self.rows[k].append(v)

    def mean(self, key, last):
        tail = self.rows[key][-last:]
        return sum(tail) / len(tail)


class MetaLoop:
    def __init__(self, learner, meta_batch=4, lr=3e-3):
        self.learner = learner
        self.meta_batch = meta_batch
        self.optimizer = torch.optim.Adam(learner.parameters(), lr=lr)
        self.history = History()

    def step(self):
        self.optimizer.zero_grad()
        total = 0.0
        for _ in range(self.meta_batch):
            loss = self.learner.episode_loss(sinusoid()) / self.meta_batch
            loss.backward()
            total += loss.item()
        self.optimizer.step()
        self.history.add(meta=total)

    def run(self, steps):
        for i in range(1, steps + 1):
            self.step()
            if i % 10 == 0:
                print(f"meta step {i:2d} loss {self.history.mean('meta', 10):.4f}")


def adapted_error(learner, episodes=10):
    errors = []
    for _ in range(episodes):
        errors.append(learner.episode_loss(sinusoid()).item())
    return sum(errors) / len(errors)


if __name__ == "__main__":
    torch.manual_seed(73)
    loop = MetaLoop(ANIL())
    loop.run(40)
    print("adapted", round(adapted_error(loop.learner), 4))
