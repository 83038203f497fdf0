"""Churn / upsell / lifetime prediction on customer tables with sharpness-aware minimisation."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from sam import SAM

TASKS = ("churn", "upsell", "months")


def make_table(n, seed):
    g = torch.Generator().manual_seed(seed)
    numeric = torch.randn(n, 6, generator=g)
    plan = torch.randint(0, 4, (n,), generator=g)
    region = torch.randint(0, 5, (n,), generator=g)
    score = numeric[:, 0] - 0.7 * numeric[:, 1] + 0.5 * (plan == 2).float()
    targets = {
        "churn": (score > 0.2).float(),
        "upsell": (numeric[:, 2] * numeric[:, 3] + 0.3 * region.float() > 0.6).float(),
        "months": 1.5 * numeric[:, 4] - 0.4 * plan.float() + 0.1 * torch.randn(n, generator=g),
    }
    return numeric, torch.stack([plan, region], 1), targets


class TabularNet(nn.Module):
    def __init__(self, n_numeric, cardinalities, width):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(c, 3) for c in cardinalities)
        self.trunk = nn.Sequential(
            nn.Linear(n_numeric + 3 * len(cardinalities), width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
        )
        self.heads = nn.ModuleDict({t: nn.Linear(width, 1) for t in TASKS})

    def forward(self, numeric, categorical):
        cats = [emb(categorical[:, i]) for i, emb in enumerate(self.embeddings)]
        h = self.trunk(torch.cat([numeric, *cats], dim=1))
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def task_loss(task, pred, target):
    if task == "months":
        return F.smooth_l1_loss(pred, target)
    return F.binary_cross_entropy_with_logits(pred, target)


def train(args):
    torch.manual_seed(args.seed)
    numeric, categorical, targets = make_table(args.rows, args.seed)
    model = TabularNet(6, (4, 5), args.width)
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=args.rho, lr=args.lr, momentum=0.9)

    for epoch in range(args.epochs):
        order = torch.randperm(args.rows)
        meters = {t: 0.0 for t in TASKS}
        batches = order.split(args.batch_size)
        for idx in batches:
            x, c = numeric[idx], categorical[idx]
            y = {t: v[idx] for t, v in targets.items()}

            out = model(x, c)
            loss = 0
            for t in TASKS:
                loss_t = task_loss(t, out[t], y[t])
                loss = loss + loss_t
                meters[t] += loss_t.item()
            loss.backward()
            optimizer.first_step(zero_grad=True)

            out = model(x, c)
            loss = 0
            for t in TASKS:
                loss = loss + task_loss(t, out[t], y[t])
            loss.backward()
            optimizer.second_step(zero_grad=True)
        print(f"epoch {epoch}: " + "  ".join(f"{t} {m / len(batches):.4f}" for t, m in meters.items()))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=512)
    p.add_argument("--width", type=int, default=32)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--rho", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=0)
    train(p.parse_args())
