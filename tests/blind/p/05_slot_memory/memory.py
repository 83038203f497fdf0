import torch
from torch import nn


class SlotMemory(nn.Module):
    """External memory of `slots` vectors, one written per time step."""

    def __init__(self, slots, dim):
        super().__init__()
        self.slots = slots
        self.dim = dim
        self.key = nn.Linear(dim, dim)
        self.query = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.bank = None

    def reset(self, batch_size):
        self.bank = torch.zeros(batch_size, self.slots, self.dim)

    def read(self, h):
        score = torch.bmm(self.key(self.bank), self.query(h).unsqueeze(2)).squeeze(2)
        weight = torch.softmax(score / self.dim ** 0.5, dim=1)
        return torch.bmm(weight.unsqueeze(1), self.bank).squeeze(1)

    def write(self, t, h):
        self.bank[:, t % self.slots] = torch.tanh(self.value(h))
