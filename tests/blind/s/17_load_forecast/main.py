"""Day-ahead electricity load forecast. Errors are reported and penalised in MW."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    days: int = 120
    history: int = 48
    horizon: int = 24
    batch_size: int = 32
    epochs: int = 7
    lr: float = 3e-3
    peak_weight: float = 3.0
    seed: int = 11


class MinMaxScaler:
    def fit(self, values):
        self.low = float(values.min())
        self.span = float(values.max() - values.min())
        return self

    def transform(self, values):
        return (values - self.low) / self.span

    def inverse_transform(self, values):
        return values * self.span + self.low


def synthetic_load(cfg):
    rng = np.random.default_rng(cfg.seed)
    hours = np.arange(cfg.days * 24)
    daily = np.sin(2 * np.pi * (hours % 24) / 24 - 1.2)
    weekly = ((hours // 24) % 7 >= 5).astype(float)
    load = 620 + 140 * daily - 60 * weekly + rng.normal(0, 12, hours.shape)
    return load.astype(np.float32)


def windows(series, cfg):
    xs, ys = [], []
    for start in range(0, len(series) - cfg.history - cfg.horizon, 12):
        mid = start + cfg.history
        xs.append(series[start:mid])
        ys.append(series[mid:mid + cfg.horizon])
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))


class PeakWeightedError(nn.Module):
    """Squared error in (10 MW)^2, with the hours above a threshold counted more."""

    def __init__(self, threshold_mw, weight):
        super().__init__()
        self.threshold_mw = threshold_mw
        self.weight = weight

    def forward(self, pred_mw, true_mw):
        w = torch.where(true_mw > self.threshold_mw, self.weight, 1.0)
        return (w * ((pred_mw - true_mw) / 10.0) ** 2).mean()


def train(cfg):
    torch.manual_seed(cfg.seed)
    load = synthetic_load(cfg)
    scaler = MinMaxScaler().fit(load)
    x, y = windows(scaler.transform(load), cfg)
    loader = DataLoader(TensorDataset(x, y), batch_size=cfg.batch_size, shuffle=True)

    model = nn.Sequential(nn.Linear(cfg.history, 64), nn.ReLU(), nn.Linear(64, cfg.horizon))
    criterion = PeakWeightedError(threshold_mw=700.0, weight=cfg.peak_weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        total = 0.0
        for xb, yb in loader:
            pred = model(xb)
            pred_mw = torch.from_numpy(scaler.inverse_transform(pred.detach().numpy()))
            true_mw = torch.from_numpy(scaler.inverse_transform(yb.numpy()))
            loss = criterion(pred_mw, true_mw)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        print(f"epoch {epoch}  loss {total / len(x):.2f}")


if __name__ == "__main__":
    train(Settings())
