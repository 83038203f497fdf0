import random

import torch


class Reservoir:
    """Keeps a uniform sample of everything that was ever added."""

    def __init__(self, size, seed=0):
        self.size, self.seen = size, 0
        self.items = []
        self.random = random.Random(seed)

    def __len__(self):
        return len(self.items)

    def add(self, inputs, answers):
        for x, answer in zip(inputs, answers):
            self.seen += 1
            if len(self.items) < self.size:
                self.items.append((x, answer))
            elif (place := self.random.randrange(self.seen)) < self.size:
                self.items[place] = (x, answer)

    def draw(self, count):
        drawn = [self.random.choice(self.items) for _ in range(count)]
        inputs, answers = zip(*drawn)
        return torch.stack(inputs), torch.stack(answers)
