"""Quantile regression of electricity load."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from losses import pinball


class QuantileNet(nn.Module):
    def __init__(self, d, quantiles):
        super().__init__()
        self.quantiles = quantiles
        self.net = nn.Sequential(nn.Linear(d, 20), nn.ReLU(), nn.Linear(20, len(quantiles)))

    def forward(self, x):
        return self.net(x)


def load_data(n=80):
    hour = 24 * torch.rand(n)
    temp = 10 + 8 * torch.randn(n)
    noise = (0.1 + 0.1 * torch.sin(hour / 24 * 6.283).abs()) * torch.randn(n)
    y = 1 + 0.5 * torch.sin(hour / 24 * 6.283) - 0.03 * (temp - 10) + noise
    x = torch.stack([(hour / 24 * 6.283).sin(), (hour / 24 * 6.283).cos(), (temp - 10) / 8], 1)
    return x, y


def coverage(model, x, y):
    with torch.no_grad():
        q = model(x)
    return ((y >= q[:, 0]) & (y <= q[:, -1])).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quantiles", type=float, nargs="+", default=[0.1, 0.5, 0.9])
    ap.add_argument("--epochs", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(38)
    x, y = load_data()
    loader = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
    model = QuantileNet(3, args.quantiles)
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(args.epochs):
        losses = []
        for xb, yb in loader:
            loss = pinball(model(xb), yb, args.quantiles)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: pinball {sum(losses) / len(losses):.4f} "
              f"coverage {coverage(model, x[64:], y[64:]):.2f}")


if __name__ == "__main__":
    main()
