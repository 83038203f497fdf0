"""Keyword spotting on synthetic tones, with a smoothed loss for the console and for early stopping."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

RATE, LENGTH = 4000, 1024
PITCHES = [220.0, 330.0, 494.0, 740.0]


def make_clips(n, seed):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, len(PITCHES), (n,), generator=g)
    pitch = torch.tensor(PITCHES)[label] * (1 + 0.03 * torch.randn(n, generator=g))
    t = torch.arange(LENGTH) / RATE
    wave = torch.sin(2 * math.pi * pitch[:, None] * t) * torch.exp(-3 * t)
    return wave + 0.4 * torch.randn(n, LENGTH, generator=g), label


def log_spectrogram(wave):
    spec = torch.stft(wave, n_fft=128, hop_length=64, window=torch.hann_window(128), return_complex=True)
    return torch.log1p(spec.abs())


class Spotter(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(65, 24, 3, padding=1), nn.ReLU(),
                                  nn.Conv1d(24, 24, 3, padding=1), nn.ReLU())
        self.out = nn.Linear(24, words)

    def forward(self, spec):
        return self.out(self.conv(spec).mean(dim=2))


class Smoothed:
    """Exponential moving average of whatever is fed to it."""

    def __init__(self, decay=0.9):
        self.decay = decay
        self.value = None

    def update(self, x):
        if self.value is None:
            self.value = x
        else:
            self.value = self.decay * self.value + (1 - self.decay) * x
        return self.value


class EarlyStop:
    def __init__(self, patience):
        self.best = math.inf
        self.bad = 0
        self.patience = patience

    def __call__(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    torch.manual_seed(21)
    wave, label = make_clips(320, seed=21)
    spec = log_spectrogram(wave)
    model = Spotter(len(PITCHES))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    smooth, stop = Smoothed(), EarlyStop(patience=3)

    for epoch in range(args.epochs):
        for idx in torch.randperm(len(spec)).split(args.batch):
            loss = F.cross_entropy(model(spec[idx]), label[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            smooth.update(loss)
        print(f"epoch {epoch}  smoothed loss {smooth.value:.4f}")
        if stop(smooth.value):
            print("no progress, stopping")
            break


if __name__ == "__main__":
    main()
