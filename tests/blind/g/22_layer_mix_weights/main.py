"""Probe a frozen encoder: a learned mix of all its layers feeds a tagger (as ELMo does)."""
import torch
from torch import nn
from torch.nn import functional as F


class FrozenEncoder(nn.Module):
    """Stands for a pretrained model; only its second layer knows what the tagger needs."""

    def __init__(self, width=16, layers=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    @torch.no_grad()
    def forward(self, x):
        states = []
        for layer in self.layers:
            x = torch.tanh(1.5 * layer(x))
            states.append(x)
        return states


class ScalarMix(nn.Module):
    """gamma * sum of softmax(w)_k * state_k"""

    def __init__(self, layers):
        super().__init__()
        self.scalars = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def weights(self):
        return self.scalars.softmax(0).tolist()

    def forward(self, states):
        return self.gamma * sum(w * state for w, state in zip(self.weights(), states))


class Probe(nn.Module):
    def __init__(self, width, layers, tags):
        super().__init__()
        self.mix = ScalarMix(layers)
        self.tag = nn.Linear(width, tags)

    def forward(self, states):
        return self.tag(self.mix(states))


def main():
    torch.manual_seed(66)
    encoder = FrozenEncoder()
    inputs = torch.randn(600, 16)
    tags = encoder(inputs)[1][:, :4].argmax(1)
    probe = Probe(16, layers=4, tags=4)
    optimizer = torch.optim.Adam([
        {"params": probe.mix.parameters(), "lr": 5e-2},
        {"params": probe.tag.parameters(), "lr": 1e-2},
    ])
    for epoch in range(8):
        total = 0.0
        for rows in torch.randperm(600).split(60):
            loss = F.cross_entropy(probe(encoder(inputs[rows])), tags[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 10
        if epoch % 2:
            print(f"epoch {epoch}: loss {total:.4f}, layers weighted {[round(w, 3) for w in probe.mix.weights()]}")


main()
