"""Three molecular property tasks on one trunk; conflicting task gradients are projected (PCGrad)."""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


def build_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(3, 20, generator=torch.Generator().manual_seed(99))
    x = torch.randn(n, 20, generator=g)
    logp = (x @ w[0]) / 4 + 0.1 * torch.randn(n, generator=g)
    tox = ((x @ w[1]) * (x[:, 0] + 0.5) > 0).float()
    sol = torch.tanh(x @ (w[2] - 0.8 * w[0]) / 4) + 0.05 * torch.randn(n, generator=g)
    return x, {"logp": logp, "tox": tox, "sol": sol}


LOSSES = {
    "logp": F.mse_loss,
    "tox": F.binary_cross_entropy_with_logits,
    "sol": F.l1_loss,
}


class PropertyNet(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.heads = nn.ModuleDict({t: nn.Linear(hidden, 1) for t in LOSSES})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(-1) for t, head in self.heads.items()}


class ProjectedOptimizer:
    def __init__(self, model, optimizer, rng):
        self.model, self.optimizer, self.rng = model, optimizer, rng
        self.shared = list(model.trunk.parameters())
        self.conflicts = 0

    def _flat(self, loss):
        grads = torch.autograd.grad(loss, self.shared, retain_graph=True)
        return torch.cat([g.reshape(-1) for g in grads])

    def _project(self, grads):
        result = []
        for i, g in enumerate(grads):
            g = g.clone()
            others = [o for j, o in enumerate(grads) if j != i]
            self.rng.shuffle(others)
            for o in others:
                dot = torch.dot(g, o)
                if dot < 0:
                    g -= dot / o.pow(2).sum() * o
                    self.conflicts += 1
            result.append(g)
        return torch.stack(result).sum(0)

    def step(self, losses):
        self.optimizer.zero_grad()
        flats = [self._flat(l) for l in losses.values()]
        merged = self._project(flats)
        for task, loss in losses.items():
            params = list(self.model.heads[task].parameters())
            for p, g in zip(params, torch.autograd.grad(loss, params, retain_graph=True)):
                p.grad = g
        offset = 0
        for p in self.shared:
            p.grad = merged[offset:offset + p.numel()].view_as(p).clone()
            offset += p.numel()
        self.optimizer.step()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(4)
    x, y = build_data(320, seed=1)
    vx, vy = build_data(128, seed=2)
    model = PropertyNet()
    trainer = ProjectedOptimizer(model, torch.optim.Adam(model.parameters(), lr=args.lr), random.Random(0))

    for epoch in range(args.epochs):
        trainer.conflicts = 0
        sums = dict.fromkeys(LOSSES, 0.0)
        chunks = torch.randperm(len(x)).split(args.batch)
        for idx in chunks:
            out = model(x[idx])
            losses = {t: fn(out[t], y[t][idx]) for t, fn in LOSSES.items()}
            trainer.step(losses)
            for t, l in losses.items():
                sums[t] += l.item() / len(chunks)
        with torch.no_grad():
            out = model(vx)
            val = sum(fn(out[t], vy[t]).item() for t, fn in LOSSES.items())
        print(f"epoch {epoch + 1:2d} " + " ".join(f"{t} {v:.3f}" for t, v in sums.items())
              + f"  val {val:.3f}  conflicts {trainer.conflicts}")


if __name__ == "__main__":
    main()
