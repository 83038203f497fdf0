"""Sharpness-aware minimisation (Foret et al.) of a small tabular network.

SAM climbs to the worst point w + e(w) in a small ball and applies the gradient
taken *there* at w.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM:
    def __init__(self, base_optimizer, rho=0.05):
        self.base = base_optimizer
        self.rho = rho
        self.backup = {}

    @property
    def params(self):
        return [p for g in self.base.param_groups for p in g["params"] if p.grad is not None]

    @torch.no_grad()
    def climb(self):
        norm = torch.norm(torch.stack([p.grad.norm() for p in self.params]))
        scale = self.rho / (norm + 1e-12)
        for p in self.params:
            self.backup[p] = p.clone()
            p.add_(p.grad * scale)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p in self.params:
            p.copy_(self.backup[p])
        self.base.step()
        self.base.zero_grad()


class TabularNet(nn.Module):
    def __init__(self, numeric=6, categories=(4, 7)):
        super().__init__()
        self.embed = nn.ModuleList([nn.Embedding(c, 3) for c in categories])
        self.body = nn.Sequential(
            nn.Linear(numeric + 3 * len(categories), 24), nn.SiLU(),
            nn.Linear(24, 24), nn.SiLU(),
            nn.Linear(24, 2))

    def forward(self, numeric, cats):
        parts = [numeric] + [e(c) for e, c in zip(self.embed, cats.t())]
        return self.body(torch.cat(parts, dim=1))


class Table:
    def __init__(self, rows=160):
        self.numeric = torch.randn(rows, 6)
        self.cats = torch.stack([torch.randint(0, 4, (rows,)), torch.randint(0, 7, (rows,))], dim=1)
        score = self.numeric[:, 0] * 1.5 - self.numeric[:, 3] + (self.cats[:, 0] == 2).float()
        self.label = (score + 0.3 * torch.randn(rows) > 0).long()

    def batches(self, size):
        for idx in torch.randperm(len(self.label)).split(size):
            yield self.numeric[idx], self.cats[idx], self.label[idx]


def run_epoch(model, table, sam):
    total, rows = 0.0, 0
    for numeric, cats, label in table.batches(32):
        logits = model(numeric, cats)
        loss = F.cross_entropy(logits, label, label_smoothing=0.05)

        loss.backward()
        sam.climb()

        worst = F.cross_entropy(model(numeric, cats), label, label_smoothing=0.05)
        worst.backward()
        sam.descend()

        total += loss.item() * len(label)
        rows += len(label)
    return total / rows


def evaluate(model, table):
    model.eval()
    with torch.no_grad():
        hit = (model(table.numeric, table.cats).argmax(1) == table.label).float().mean()
    model.train()
    return hit.item()


def main():
    torch.manual_seed(19)
    table = Table()
    model = TabularNet()
    sam = SAM(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), rho=0.1)
    for epoch in range(6):
        mean = run_epoch(model, table, sam)
        print(f"epoch {epoch} loss {mean:.4f} acc {evaluate(model, table):.3f}")


if __name__ == "__main__":
    main()
