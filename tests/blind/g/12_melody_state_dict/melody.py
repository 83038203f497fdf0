import torch
from torch import nn


def endless_melodies(streams, length, chunks, seed):
    """Every stream walks up and down its own scale."""
    generator = torch.Generator().manual_seed(seed)
    step = torch.tensor([1, 2, 5, 7])[torch.randint(4, (streams, 1), generator=generator)]
    note = torch.randint(12, (streams, 1), generator=generator)
    for _ in range(chunks):
        walk = step * torch.ones(streams, length, dtype=torch.long)
        slip = (torch.rand(streams, length, generator=generator) < 0.05).long()
        notes = (note + (walk + slip).cumsum(1)) % 12
        note = notes[:, -1:]
        yield notes


class MelodyNet(nn.Module):
    def __init__(self, notes, width):
        super().__init__()
        self.embed = nn.Embedding(notes, width)
        self.cell = nn.LSTMCell(2 * width, width)
        self.summary = nn.Linear(2 * width, width)
        self.out = nn.Linear(2 * width, notes)
        self.width = width

    def initial_state(self, streams):
        return {name: torch.zeros(streams, self.width) for name in ("hidden", "cell", "theme")}

    def forward(self, notes, state):
        hidden, cell, theme = state["hidden"], state["cell"], state["theme"]
        logits = []
        for note in self.embed(notes).unbind(1):
            hidden, cell = self.cell(torch.cat([note, theme], 1), (hidden, cell))
            logits.append(self.out(torch.cat([hidden, theme], 1)))
        theme = torch.tanh(self.summary(torch.cat([hidden, theme], 1)))
        return torch.stack(logits, 1), {"hidden": hidden, "cell": cell, "theme": theme}


def detached(state):
    return {**state, "hidden": state["hidden"].detach(), "cell": state["cell"].detach()}
