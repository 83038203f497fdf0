"""Tiny CTC recogniser with SpecAugment on the learned features."""
import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)

N_MELS, N_CHARS = 20, 6


def augment(feats, n_masks=2, width=4):
    """Zero out a few random stretches of time."""
    feats = feats.clone()
    for _ in range(n_masks):
        start = random.randrange(feats.size(1) - width)
        feats[:, start:start + width] = 0.0
    return feats


class Recogniser(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.front = nn.Linear(N_MELS, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, N_CHARS)

    def forward(self, mels):
        feats = torch.sigmoid(self.front(mels))
        if self.training:
            feats = augment(feats)
        hidden, _ = self.gru(feats)
        return self.out(hidden).log_softmax(-1)


def utterances(n, frames=30, chars=5):
    mels = torch.randn(n, frames, N_MELS)
    text = torch.randint(1, N_CHARS, (n, chars))
    return mels, text


def train(model, steps=6):
    ctc = nn.CTCLoss(blank=0)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(steps):
        mels, text = utterances(6)
        logp = model(mels).transpose(0, 1)
        in_len = torch.full((6,), logp.size(0), dtype=torch.long)
        out_len = torch.full((6,), text.size(1), dtype=torch.long)
        loss = ctc(logp, text, in_len, out_len)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"{step}: {loss.item():.4f}")


train(Recogniser())
