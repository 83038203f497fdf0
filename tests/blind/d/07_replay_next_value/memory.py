import random
from collections import deque, namedtuple

import torch

Transition = namedtuple("Transition", ("state", "action", "target"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, transition):
        self.memory.append(transition)

    def sample(self, batch_size):
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        return torch.stack(batch.state), torch.tensor(batch.action), torch.stack(batch.target)

    def __len__(self):
        return len(self.memory)
