"""Day-ahead load forecasting from a week of hourly readings."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--accum", type=int, default=4)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=7)
    return ap.parse_args()


def make_series(hours, generator):
    t = torch.arange(hours, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.cos(2 * math.pi * t / (24 * 7))
    noise = 0.1 * torch.randn(hours, generator=generator)
    return daily + weekly + noise


def make_windows(series, history=168, horizon=24, stride=6):
    xs, ys = [], []
    for start in range(0, len(series) - history - horizon, stride):
        xs.append(series[start:start + history])
        ys.append(series[start + history:start + history + horizon])
    return torch.stack(xs), torch.stack(ys)


class Forecaster(nn.Module):
    def __init__(self, horizon=24, width=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=3), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2), nn.ReLU(),
        )
        self.head = nn.Linear(width * 25, horizon)

    def forward(self, x):
        h = self.conv(x.unsqueeze(1))
        return self.head(h.flatten(1))


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    x, y = make_windows(make_series(2200, gen))
    n_train = 256
    train = DataLoader(TensorDataset(x[:n_train], y[:n_train]),
                       batch_size=args.batch_size, shuffle=True, generator=gen)
    x_val, y_val = x[n_train:], y[n_train:]

    model = Forecaster()
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    updates = args.epochs * len(train) // args.accum
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=updates)

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for i, (xb, yb) in enumerate(train):
            loss = criterion(model(xb), yb)
            total = total + loss.item() / args.accum
            (loss / args.accum).backward()
            if (i + 1) % args.accum == 0:
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
                print(f"epoch {epoch} update {(i + 1) // args.accum} loss {total:.4f}")
                total = 0.0
        model.eval()
        with torch.no_grad():
            val = criterion(model(x_val), y_val)
        print(f"epoch {epoch} val {val.item():.4f} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
