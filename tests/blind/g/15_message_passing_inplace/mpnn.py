import torch
import torch.nn as nn


class MessagePassing(nn.Module):
    def __init__(self, kinds, width, rounds):
        super().__init__()
        self.embed = nn.Embedding(kinds, width)
        self.message = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(rounds))
        self.update = nn.ModuleList(nn.Linear(width, width) for _ in range(rounds))
        self.readout = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, kinds, src, dst):
        h = self.embed(kinds)
        for message, update in zip(self.message, self.update):
            sent = torch.relu(message(torch.cat([h[src], h[dst]], 1)))
            h = torch.tanh(update(h))
            h.index_add_(0, dst, 0.5 * sent)
        return self.readout(h.mean(0)).squeeze()
