"""Recurrent backbone that remembers the stream between windows."""
from torch import nn


class StreamEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(width, width, batch_first=True)
        self.state = None

    def forward(self, x):
        y, state = self.gru(x, self.state)
        self.state = state.detach()
        return y


class Backbone(nn.Module):
    def __init__(self, n_channels, width):
        super().__init__()
        self.lift = nn.Linear(n_channels, width)
        self.norm = nn.LayerNorm(width)
        self.encoder = StreamEncoder(width)

    def forward(self, window):
        return self.encoder(self.norm(self.lift(window)))
