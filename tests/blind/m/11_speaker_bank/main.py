"""Speaker embeddings from pairs of utterances, with the last batches as extra negatives."""
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)

SPEAKERS, FEATURES, DIM = 30, 20, 8
voices = torch.randn(SPEAKERS, FEATURES)


def utterance_pairs(count):
    who = torch.randint(SPEAKERS, (count,))
    first = voices[who] + 0.4 * torch.randn(count, FEATURES)
    second = voices[who] + 0.4 * torch.randn(count, FEATURES)
    return first, second


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, DIM))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


def info_nce(anchor, positive, extra, temperature=0.2):
    candidates = torch.cat([positive, *extra])
    scores = anchor @ candidates.T / temperature
    return F.cross_entropy(scores, torch.arange(len(anchor)))


embed = Embedder()
opt = torch.optim.Adam(embed.parameters(), lr=4e-3)
bank = deque(maxlen=4)  # old embeddings are cheap negatives: fixed points, not recomputed

for step in range(24):
    first, second = utterance_pairs(16)
    anchor, positive = embed(first), embed(second)
    nce = info_nce(anchor, positive, bank)
    opt.zero_grad()
    nce.backward()
    opt.step()
    bank.append(positive)
    if step % 6 == 5:
        print(f"step {step + 1:2d}  nce {nce.item():.3f}  bank {len(bank)}")
