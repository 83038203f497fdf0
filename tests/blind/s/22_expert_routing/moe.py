"""Sparse feed-forward layers with a learned router."""
import torch
import torch.nn.functional as F
from torch import nn


class AuxLosses:
    """Collects the side losses that layers report, to be weighted by the trainer."""

    def __init__(self):
        self.terms = []

    def add(self, name, value):
        self.terms.append((name, value))

    def total(self):
        if not self.terms:
            return torch.zeros(())
        return torch.stack([value for _, value in self.terms]).mean()

    def clear(self):
        self.terms = []


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = experts

    def forward(self, x):
        probs = self.gate(x).softmax(dim=-1)
        weight, choice = probs.max(dim=-1)
        share = F.one_hot(choice, self.experts).float().mean(0)
        balance = self.experts * (share * probs.mean(0)).sum()
        return weight, choice, balance


class SparseFFN(nn.Module):
    def __init__(self, dim, hidden, experts, aux, name):
        super().__init__()
        self.router = Router(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim)) for _ in range(experts))
        self.norm = nn.LayerNorm(dim)
        self.aux = aux
        self.name = name

    def forward(self, x):
        flat = self.norm(x).reshape(-1, x.shape[-1])
        weight, choice, balance = self.router(flat)
        if self.training:
            self.aux.add(self.name, balance)
        out = torch.zeros_like(flat)
        for k, expert in enumerate(self.experts):
            rows = (choice == k).nonzero(as_tuple=True)[0]
            if len(rows):
                out = out.index_add(0, rows, expert(flat[rows]) * weight[rows, None])
        return x + out.view_as(x)


class NGramLM(nn.Module):
    """Predicts a token from the `context` tokens before it."""

    def __init__(self, vocab, context, dim=24, experts=4, depth=2):
        super().__init__()
        self.aux = AuxLosses()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(context * dim, dim)
        self.layers = nn.Sequential(
            *[SparseFFN(dim, 32, experts, self.aux, f"layer{i}") for i in range(depth)])
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        x = torch.tanh(self.mix(self.embed(tokens).flatten(1)))
        return self.out(self.layers(x))
