"""Feed ranking: click, like and watch-time heads on one trunk.

The trunk learns from all three objectives; every head learns from its own.
"""
import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Batch:
    user: torch.Tensor
    item: torch.Tensor
    labels: dict


class Impressions:
    def __init__(self, users, items, n, seed):
        g = torch.Generator().manual_seed(seed)
        taste = torch.randn(users, 4, generator=g)
        topic = torch.randn(items, 4, generator=g)
        self.user = torch.randint(0, users, (n,), generator=g)
        self.item = torch.randint(0, items, (n,), generator=g)
        match = (taste[self.user] * topic[self.item]).sum(1)
        noise = torch.randn(n, generator=g)
        self.click = (match + 0.3 * noise > 0).float()
        self.like = (match > 1.5).float()
        self.watch = torch.sigmoid(match) * 2.0

    def __iter__(self):
        for i in range(0, len(self.user), 128):
            s = slice(i, i + 128)
            yield Batch(self.user[s], self.item[s],
                        {"click": self.click[s], "like": self.like[s], "watch": self.watch[s]})


class Trunk(nn.Module):
    def __init__(self, users, items, dim=12):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())

    def forward(self, user, item):
        u, v = self.users(user), self.items(item)
        return self.mlp(torch.cat([u, v, u * v], dim=1))


CRITERIA = {
    "click": F.binary_cross_entropy_with_logits,
    "like": F.binary_cross_entropy_with_logits,
    "watch": F.mse_loss,
}


class Ranker:
    def __init__(self, users, items, lr):
        self.trunk = Trunk(users, items)
        self.heads = {task: nn.Linear(32, 1) for task in CRITERIA}
        self.trunk_opt = torch.optim.Adam(self.trunk.parameters(), lr=lr)
        self.head_opts = {t: torch.optim.Adam(h.parameters(), lr=lr) for t, h in self.heads.items()}

    def zero_grad(self):
        self.trunk_opt.zero_grad()
        for opt in self.head_opts.values():
            opt.zero_grad()

    def step(self, batch):
        features = self.trunk(batch.user, batch.item)
        losses = {}
        for task, head in self.heads.items():
            losses[task] = CRITERIA[task](head(features).squeeze(1), batch.labels[task])

        self.zero_grad()
        pending = len(losses)
        for task, loss in losses.items():
            pending -= 1
            loss.backward(retain_graph=pending > 0)
            self.head_opts[task].step()
            self.trunk_opt.step()
        return {task: loss.item() for task, loss in losses.items()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(1)
    data = Impressions(users=60, items=80, n=1280, seed=1)
    ranker = Ranker(60, 80, args.lr)
    for epoch in range(args.epochs):
        for batch in data:
            last = ranker.step(batch)
        print(f"epoch {epoch}  " + "  ".join(f"{t} {v:.4f}" for t, v in last.items()))


if __name__ == "__main__":
    main()
