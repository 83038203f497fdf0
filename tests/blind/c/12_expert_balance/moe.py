import torch
from torch import nn


class MoELayer(nn.Module):
    def __init__(self, size, experts):
        super().__init__()
        self.gate = nn.Linear(size, experts)
        self.experts = nn.ModuleList(nn.Linear(size, size) for _ in range(experts))
        self.balance = 0.0

    def forward(self, x):
        share = torch.softmax(self.gate(x), dim=-1)
        self.balance = self.balance + share.mean(0).pow(2).sum() * len(self.experts)
        outputs = torch.stack([torch.relu(expert(x)) for expert in self.experts], dim=-1)
        return (outputs * share.unsqueeze(1)).sum(-1)
