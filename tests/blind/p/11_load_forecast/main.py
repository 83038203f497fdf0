"""Hourly load forecasting with a small convolutional net; keeps a loss history
to report how training went."""
import argparse
import math

import torch
from torch import nn


def make_series(hours=600):
    t = torch.arange(hours).float()
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.sin(2 * math.pi * t / 168)
    return daily + weekly + 0.1 * torch.randn(hours)


def windows(series, context, horizon):
    w = series.unfold(0, context + horizon, 1)
    return w[:, :context], w[:, context:]


class Forecaster(nn.Module):
    def __init__(self, context, horizon, width=16):
        super().__init__()
        self.conv = nn.Conv1d(1, width, 5, padding=2)
        self.head = nn.Linear(width * context, horizon)

    def forward(self, x):
        h = torch.relu(self.conv(x.unsqueeze(1)))
        return self.head(h.flatten(1))


def train(args):
    torch.manual_seed(args.seed)
    x, y = windows(make_series(), args.context, args.horizon)
    model = Forecaster(args.context, args.horizon)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.SmoothL1Loss()

    history = {"loss": [], "lr": []}
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(x)).split(args.batch_size):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            history["loss"].append(loss)
            history["lr"].append(optimizer.param_groups[0]["lr"])
    return model, history


def report(history, every):
    for i in range(0, len(history["loss"]), every):
        chunk = history["loss"][i:i + every]
        print(f"steps {i:3d}-{i + len(chunk) - 1:3d}  loss {sum(chunk) / len(chunk):.4f}  lr {history['lr'][i]:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--context", type=int, default=48)
    parser.add_argument("--horizon", type=int, default=6)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    model, history = train(args)
    report(history, every=18)
