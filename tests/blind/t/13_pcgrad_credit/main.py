"""Credit scoring with two objectives whose conflicting gradients are projected (PCGrad)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def loan_book(n, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=gen)
    risk = x[:, 0] - 0.8 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    default = (risk + 0.3 * torch.randn(n, generator=gen) > 0.5).float()
    profit = -0.6 * risk + x[:, 4] + 0.2 * torch.randn(n, generator=gen)
    return x, {"default": default, "profit": profit}


class CreditModel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(10, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.towers = nn.ModuleDict({
            "default": nn.Linear(width, 1),
            "profit": nn.Sequential(nn.Linear(width, 8), nn.SiLU(), nn.Linear(8, 1)),
        })

    def forward(self, x):
        h = self.shared(x)
        return {name: tower(h).squeeze(1) for name, tower in self.towers.items()}


LOSSES = {
    "default": F.binary_cross_entropy_with_logits,
    "profit": lambda pred, y: F.smooth_l1_loss(pred, y),
}


def project(vectors):
    projected = []
    for i, g in enumerate(vectors):
        g = g.clone()
        for j, other in enumerate(vectors):
            if i == j:
                continue
            dot = torch.dot(g, other)
            if dot < 0:
                g -= dot / other.norm().pow(2) * other
        projected.append(g)
    return torch.stack(projected).sum(0)


def scatter(vector, params):
    offset = 0
    for p in params:
        p.grad.copy_(vector[offset:offset + p.numel()].view_as(p))
        offset += p.numel()


def train_step(model, optimizer, x, targets):
    shared = list(model.shared.parameters())
    outputs = model(x)
    losses = {name: LOSSES[name](outputs[name], targets[name]) for name in LOSSES}

    vectors = []
    for name in LOSSES:
        grads = torch.autograd.grad(losses[name], shared, retain_graph=True)
        vectors.append(torch.cat([g.flatten() for g in grads]))

    optimizer.zero_grad()
    sum(losses.values()).backward()
    scatter(project(vectors), shared)
    optimizer.step()
    return {name: value.item() for name, value in losses.items()}, torch.dot(*vectors).item() < 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=640)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()
    torch.manual_seed(6)
    x, targets = loan_book(args.rows, seed=6)
    model = CreditModel(args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sums, conflicts, batches = {name: 0.0 for name in LOSSES}, 0, 0
        for idx in torch.randperm(args.rows).split(args.batch_size):
            values, conflict = train_step(model, optimizer, x[idx], {k: v[idx] for k, v in targets.items()})
            for name, value in values.items():
                sums[name] += value
            conflicts += conflict
            batches += 1
        print(f"epoch {epoch}: " + "  ".join(f"{k} {v / batches:.4f}" for k, v in sums.items())
              + f"  conflicts {conflicts}/{batches}")


if __name__ == "__main__":
    main()
