"""Short-term forecasting of road speeds with a learned sensor graph."""
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

from model import SpeedForecaster


@dataclass
class Options:
    nodes: int = 14
    steps: int = 260
    window: int = 8
    horizon: int = 3
    batch: int = 32
    epochs: int = 6
    lr: float = 5e-3
    seed: int = 21


def simulate_roads(opt):
    g = torch.Generator().manual_seed(opt.seed)
    link = torch.rand(opt.nodes, opt.nodes, generator=g)
    link = (link > 0.8).float() + torch.eye(opt.nodes)
    link = link / link.sum(1, keepdim=True)
    speed = torch.zeros(opt.steps, opt.nodes)
    speed[0] = torch.randn(opt.nodes, generator=g)
    for t in range(1, opt.steps):
        rush = 0.3 * torch.sin(torch.tensor(2 * torch.pi * t / 24.0))
        speed[t] = 0.9 * link @ speed[t - 1] + rush + 0.15 * torch.randn(opt.nodes, generator=g)
    return (speed - speed.mean()) / speed.std()


def windows(speed, opt):
    xs, ys = [], []
    for t in range(len(speed) - opt.window - opt.horizon):
        xs.append(speed[t:t + opt.window].t())
        ys.append(speed[t + opt.window:t + opt.window + opt.horizon].t())
    return TensorDataset(torch.stack(xs), torch.stack(ys))


def masked_mae(pred, true, limit=4.0):
    mask = (true.abs() < limit).float()
    return ((pred - true).abs() * mask).sum() / mask.sum()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores = [masked_mae(model(x), y).item() for x, y in loader]
    model.train()
    return sum(scores) / len(scores)


def run_epoch(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = masked_mae(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    opt = Options()
    torch.manual_seed(opt.seed)
    data = windows(simulate_roads(opt), opt)
    n_test = len(data) // 5
    train, test = random_split(data, [len(data) - n_test, n_test])
    train_loader = DataLoader(train, batch_size=opt.batch, shuffle=True)
    test_loader = DataLoader(test, batch_size=64)
    model = SpeedForecaster(opt.nodes, opt.window, opt.horizon)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    for epoch in range(opt.epochs):
        mae = run_epoch(model, train_loader, optimizer)
        print(f"epoch {epoch + 1}  train MAE {mae:.4f}  test MAE {evaluate(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
