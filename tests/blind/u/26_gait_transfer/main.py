"""Pretrain on walking-speed classes, then transfer to gait-disorder classes with a fresh output layer."""
import math

import torch
import torch.nn.functional as F
from torch import nn

WINDOW = 50


def accelerometer(n, freqs, seed):
    """Three axes, one base frequency per class."""
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, len(freqs), (n,), generator=gen)
    t = torch.arange(WINDOW) / WINDOW
    f = torch.tensor(freqs)[labels].unsqueeze(1)
    phase = 2 * math.pi * torch.rand(n, 1, generator=gen)
    base = torch.sin(2 * math.pi * f * t + phase)
    axes = torch.stack([base, 0.5 * base.roll(5, dims=1), torch.cos(4 * math.pi * f * t)], dim=1)
    return axes + 0.2 * torch.randn(axes.shape, generator=gen), labels


class GaitNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(3, 16, 9, stride=2), nn.ReLU(),
            nn.Conv1d(16, 24, 5, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        )
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        return self.head(self.features(x))


def run_epochs(model, optimizer, x, y, epochs, tag):
    model.train()
    for epoch in range(epochs):
        total, correct = 0.0, 0
        for idx in torch.randperm(len(x)).split(32):
            logits = model(x[idx])
            loss = F.cross_entropy(logits, y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
            correct += (logits.argmax(1) == y[idx]).sum().item()
        print(f"{tag} epoch {epoch}: loss {total / len(x):.4f} accuracy {correct / len(x):.3f}")


def pretrain():
    x, y = accelerometer(192, freqs=[2.0, 4.0, 7.0], seed=1)
    model = GaitNet(classes=3)
    run_epochs(model, torch.optim.Adam(model.parameters(), lr=1e-2), x, y, 4, "pretrain")
    return model


def transfer(model, epochs=4):
    x, y = accelerometer(160, freqs=[1.5, 3.0, 5.0, 6.0, 9.0], seed=2)
    optimizer = torch.optim.Adam([
        {"params": model.features.parameters(), "lr": 1e-3},
        {"params": model.head.parameters(), "lr": 1e-2},
    ])
    model.head = nn.Linear(model.head.in_features, 5)
    run_epochs(model, optimizer, x, y, epochs, "transfer")


def main():
    torch.manual_seed(23)
    transfer(pretrain())


if __name__ == "__main__":
    main()
