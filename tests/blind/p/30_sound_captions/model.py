"""Two towers for sound clips and captions."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SoundTower(nn.Module):
    def __init__(self, bands, dim):
        super().__init__()
        self.conv = nn.Conv1d(bands, 32, 3, padding=1)
        self.proj = nn.Linear(32, dim)

    def forward(self, spectrogram):
        h = F.gelu(self.conv(spectrogram)).mean(-1)
        return F.normalize(self.proj(h), dim=-1)


class CaptionTower(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, 32)
        self.proj = nn.Linear(32, dim)

    def forward(self, tokens):
        return F.normalize(self.proj(self.words(tokens)), dim=-1)


class SoundCaptionModel(nn.Module):
    def __init__(self, bands=16, vocab=60, dim=16, init_temperature=0.5):
        super().__init__()
        self.sound = SoundTower(bands, dim)
        self.caption = CaptionTower(vocab, dim)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / init_temperature)))

    def forward(self, spectrogram, tokens):
        return self.sound(spectrogram), self.caption(tokens)
