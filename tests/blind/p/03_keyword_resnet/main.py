"""Keyword spotting on synthetic tones with a small 1-D residual network."""
import argparse
import math

import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.bn1 = nn.BatchNorm1d(channels)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)
        self.bn2 = nn.BatchNorm1d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out += identity
        return out


class KeywordNet(nn.Module):
    def __init__(self, num_keywords, channels=16):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 9, stride=4, padding=4)
        self.blocks = nn.Sequential(*[ResidualBlock(channels, 2 ** i) for i in range(3)])
        self.fc = nn.Linear(channels, num_keywords)

    def forward(self, wave):
        h = self.blocks(self.stem(wave))
        return self.fc(h.mean(-1))


def synth_batch(size, num_keywords, length=256):
    label = torch.randint(num_keywords, (size,))
    t = torch.arange(length) / length
    freq = 8.0 * (label + 1).float()
    phase = 2 * math.pi * torch.rand(size, 1)
    wave = torch.sin(2 * math.pi * freq[:, None] * t + phase)
    wave = wave + 0.3 * torch.randn(size, length)
    return wave.unsqueeze(1), label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--keywords", type=int, default=5)
    args = parser.parse_args()

    torch.manual_seed(99)
    model = KeywordNet(args.keywords)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for step in range(args.steps):
        wave, label = synth_batch(args.batch_size, args.keywords)
        optimizer.zero_grad()
        logits = model(wave)
        loss = criterion(logits, label)
        loss.backward()
        optimizer.step()
        if step % 5 == 0 or step == args.steps - 1:
            acc = (logits.argmax(1) == label).float().mean().item()
            print(f"step {step:3d}  loss {loss.item():.4f}  acc {acc:.2f}")


if __name__ == "__main__":
    main()
