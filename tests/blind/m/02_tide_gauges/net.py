import torch.nn as nn


class TideNet(nn.Module):
    """A GRU over hourly levels; returns the next level for every hour and its last summary."""

    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, levels, summary=None):
        seen, summary = self.rnn(levels.unsqueeze(-1), summary)
        return self.out(seen).squeeze(-1), summary
