"""An encoder that remembers the end of the last chunk, and the recordings it hears."""
import torch
from torch import nn


class StreamingEncoder(nn.Module):
    def __init__(self, bands, size):
        super().__init__()
        self.front = nn.Conv1d(bands, size, kernel_size=3)
        self.rnn = nn.GRU(size, size, batch_first=True)
        self.context = {}

    def begin(self):
        self.context = {}

    def forward(self, chunk):
        left = self.context.get("front")
        if left is None:
            left = chunk.new_zeros(chunk.shape[0], chunk.shape[1], 2)
        padded = torch.cat([left, chunk], dim=2)
        features = torch.relu(self.front(padded)).transpose(1, 2)
        out, last = self.rnn(features, self.context.get("rnn"))
        self.context = {"front": padded[:, :, -2:], "rnn": last}
        return out


class ChunkedRecordings:
    def __init__(self, bands, words, chunks, length):
        self.bands, self.words, self.chunks, self.length = bands, words, chunks, length
        self.random = torch.Generator().manual_seed(11)

    def batches(self, count, size=3):
        for _ in range(count):
            words = torch.randint(self.words, (size,), generator=self.random)
            sound = torch.randn(size, self.bands, self.chunks * self.length, generator=self.random)
            sound = sound + words[:, None, None] * 0.3
            yield [(chunk, words) for chunk in sound.split(self.length, dim=2)]
