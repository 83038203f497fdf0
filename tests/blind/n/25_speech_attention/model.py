import torch
from torch import nn


class SpeechEncoder(nn.Module):
    """Frames -> keys and values."""

    def __init__(self, n_mels=10, dim=16):
        super().__init__()
        self.rnn = nn.GRU(n_mels, dim, batch_first=True)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, frames):
        h, _ = self.rnn(frames)
        return self.key(h), self.value(h)


class WordQuery(nn.Module):
    """Learned queries, one for each keyword, and a detector on what they attend to."""

    def __init__(self, n_words=4, dim=16):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(n_words, dim))
        self.detect = nn.Linear(dim, 1)

    def forward(self, context):
        return self.detect(context).squeeze(-1)
