"""Forecast load and price from a window of the past; conflicting task gradients are projected (PCGrad)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from relax import RelaxLayer


def series(length=420, seed=8):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length).float()
    load = torch.sin(t / 6) + 0.4 * torch.sin(t / 2.5) + 0.1 * torch.randn(length, generator=g)
    price = (load.roll(2) > 0.3).float() + 0.2 * torch.cos(t / 6) + 0.1 * torch.randn(length, generator=g)
    return torch.stack([load, price], dim=1)


def windows(data, width):
    x = data.unfold(0, width, 1)[:-1].reshape(-1, 2 * width)
    return x, data[width:]


class Forecaster(nn.Module):
    def __init__(self, width, hidden=24):
        super().__init__()
        self.trunk = RelaxLayer(2 * width, hidden)
        self.heads = nn.ModuleDict({"load": nn.Linear(hidden, 1), "price": nn.Linear(hidden, 1)})

    def forward(self, x):
        z = self.trunk(x)
        return {name: head(z).squeeze(-1) for name, head in self.heads.items()}


def project_conflicts(losses, shared):
    """Gradient of every task for the shared parameters, without the parts that oppose another task."""
    per_task = []
    for loss in losses:
        grads = torch.autograd.grad(loss, shared, retain_graph=True)
        per_task.append(torch.cat([g.reshape(-1) for g in grads]))
    total = torch.zeros_like(per_task[0])
    for i, g in enumerate(per_task):
        g = g.clone()
        for j, other in enumerate(per_task):
            dot = g @ other
            if i != j and dot < 0:
                g -= dot / other.pow(2).sum() * other
        total += g
    return total.split([p.numel() for p in shared])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(0)
    x, y = windows(series(), args.width)
    model = Forecaster(args.width)
    shared = list(model.trunk.parameters())
    heads = list(model.heads.parameters())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        sums = torch.zeros(2)
        for idx in torch.randperm(len(x)).split(args.batch_size):
            out = model(x[idx])
            losses = [F.mse_loss(out["load"], y[idx, 0]), F.mse_loss(out["price"], y[idx, 1])]
            pieces = project_conflicts(losses, shared)
            optimizer.zero_grad()
            torch.autograd.backward(sum(losses), inputs=heads)
            for p, g in zip(shared, pieces):
                p.grad = g.view_as(p).clone()
            optimizer.step()
            sums += torch.tensor([l.item() for l in losses]) * len(idx)
        load, price = (sums / len(x)).tolist()
        print(f"epoch {epoch}: load {load:.4f}  price {price:.4f}")


if __name__ == "__main__":
    main()
