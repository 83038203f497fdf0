"""Keyword spotting on raw waveforms with a learned band-pass filterbank."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

RATE, LENGTH, TAPS, BANDS = 2000, 800, 65, 12


def waveforms(count, generator):
    """Three classes of tones in noise."""
    t = torch.arange(LENGTH) / RATE
    label = torch.randint(3, (count,), generator=generator)
    pitch = torch.tensor([110.0, 260.0, 480.0])[label] * (0.9 + 0.2 * torch.rand(count, generator=generator))
    wave = torch.sin(2 * math.pi * pitch[:, None] * t) + 0.8 * torch.randn(count, LENGTH, generator=generator)
    return wave, label


class BandPass(nn.Module):
    """Windowed sinc filters with learned cut-off frequencies."""

    def __init__(self):
        super().__init__()
        edges = torch.linspace(30, 900, BANDS + 1)
        self.low = nn.Parameter(edges[:-1].clone())
        self.width = nn.Parameter(edges[1:] - edges[:-1])
        n = torch.arange(TAPS) - TAPS // 2
        self.register_buffer("n", n.float())
        self.register_buffer("window", torch.hamming_window(TAPS))

    def kernels(self):
        low = self.low.abs()[:, None] / RATE
        high = low + self.width.abs()[:, None] / RATE
        band = 2 * high * torch.sinc(2 * high * self.n) - 2 * low * torch.sinc(2 * low * self.n)
        return (band * self.window)[:, None, :]


def batches(waves, labels, size):
    for index in torch.randperm(len(waves)).split(size):
        yield waves[index], labels[index]


def main():
    torch.manual_seed(3)
    waves, labels = waveforms(256, torch.Generator().manual_seed(0))
    bank = BandPass()
    classify = nn.Sequential(nn.Linear(BANDS, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam([
        {"params": bank.parameters(), "lr": 1.0},
        {"params": classify.parameters(), "lr": 3e-3},
    ])

    start = bank.low.detach().clone()
    for epoch in range(5):
        seen = hits = total = 0
        for wave, label in batches(waves, labels, 32):
            bands = F.conv1d(wave[:, None], bank.kernels(), stride=4)
            energy = bands.pow(2).mean(-1).add(1e-4).log()
            logits = classify(energy)
            loss = F.cross_entropy(logits, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(label)
            hits += (logits.argmax(1) == label).sum().item()
            total += loss.item() * len(label)
        moved = (bank.low.detach() - start).abs().mean().item()
        print(f"epoch {epoch}: loss {total / seen:.4f} accuracy {hits / seen:.3f} cut-offs moved by {moved:.2f} Hz")


main()
