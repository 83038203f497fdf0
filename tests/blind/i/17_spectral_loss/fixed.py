"""Vocoder-like synthesis: a network predicts the weights of harmonics, the loss compares spectra."""
import numpy as np
import torch
import torch.nn as nn

LENGTH, HARMONICS = 64, 6
TIME = torch.linspace(0, 1, LENGTH)


class Synth(nn.Module):
    def __init__(self, conditions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(conditions, 32), nn.ReLU(), nn.Linear(32, HARMONICS))
        k = torch.arange(1, HARMONICS + 1)[:, None]
        self.register_buffer("waves", torch.sin(2 * np.pi * k * TIME * 2))

    def forward(self, c):
        return self.net(c) @ self.waves


def magnitude(signal):
    """Magnitude spectrum with a Hann window."""
    window = torch.from_numpy(np.hanning(LENGTH)).float()
    return torch.fft.rfft(signal * window).abs()


def spectral_loss(predicted, target):
    a, b = magnitude(predicted), magnitude(target)
    return (a - b).abs().mean() + (torch.log(a + 0.1) - torch.log(b + 0.1)).abs().mean()


def sounds(n, mixing):
    c = torch.randn(n, 4)
    k = torch.arange(1, HARMONICS + 1)[:, None]
    weights = torch.relu(c @ mixing)
    clean = weights @ torch.sin(2 * np.pi * k * TIME * 2)
    return c, clean + 0.01 * torch.randn(n, LENGTH)


def main():
    torch.manual_seed(37)
    mixing = torch.randn(4, HARMONICS)
    conditions, targets = sounds(200, mixing)
    model = Synth(4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(10):
        total = 0.0
        for rows in torch.randperm(200).split(40):
            loss = spectral_loss(model(conditions[rows]), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 5
        if epoch % 2 == 1:
            print(f"epoch {epoch}: spectral loss {total:.4f}")


if __name__ == "__main__":
    main()
