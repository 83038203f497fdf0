import torch
import torch.nn as nn
import torch.nn.functional as F


class AudioTower(nn.Module):
    def __init__(self, bins=20, dim=12):
        super().__init__()
        self.conv = nn.Conv1d(bins, 16, 3, padding=1)
        self.proj = nn.Linear(16, dim)

    def forward(self, spectrogram):
        h = F.gelu(self.conv(spectrogram)).mean(dim=-1)
        return F.normalize(self.proj(h), dim=-1)


class CaptionTower(nn.Module):
    def __init__(self, vocab=30, width=16, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.proj = nn.Linear(width, dim)

    def forward(self, tokens):
        _, h = self.gru(self.embed(tokens))
        return F.normalize(self.proj(h[-1]), dim=-1)


class AudioText(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio = AudioTower()
        self.caption = CaptionTower()

    def forward(self, spectrogram, tokens):
        return self.audio(spectrogram), self.caption(tokens)
