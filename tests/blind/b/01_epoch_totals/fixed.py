"""Train a small regressor and keep per-epoch statistics for the final report."""
from collections import defaultdict

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loader(n=48, width=6):
    x = torch.randn(n, width)
    y = x[:, :2].sum(1, keepdim=True) + 0.1 * torch.randn(n, 1)
    return DataLoader(TensorDataset(x, y), batch_size=8, shuffle=False)


def losses_of(model, x, y):
    pred = model(x)
    data = nn.functional.mse_loss(pred, y)
    decay = sum(p.pow(2).sum() for p in model.parameters())
    return {"data": data, "decay": 1e-3 * decay, "total": data + 1e-3 * decay}


def train_epoch(model, loader, opt, report):
    totals = defaultdict(float)
    seen = 0
    for x, y in loader:
        opt.zero_grad()
        losses = losses_of(model, x, y)
        losses["total"].backward()
        opt.step()
        for name, value in losses.items():
            totals[name] += value.item() * len(x)
        seen += len(x)
    report.append({name: value / seen for name, value in totals.items()})


def main():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    loader = make_loader()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    report = []
    for _ in range(5):
        train_epoch(model, loader, opt, report)
    for epoch, row in enumerate(report):
        print(f"epoch {epoch}: " + ", ".join(f"{name} {float(value):.4f}" for name, value in row.items()))


if __name__ == "__main__":
    main()
