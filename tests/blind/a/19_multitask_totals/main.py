"""Multi-task training: class, depth and edge heads with weighted terms."""
import torch
from torch import nn
import torch.nn.functional as F

WEIGHTS = {"cls": 1.0, "depth": 0.5, "edge": 0.25}


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 12), nn.ReLU())
        self.heads = nn.ModuleDict({"cls": nn.Linear(12, 3), "depth": nn.Linear(12, 1), "edge": nn.Linear(12, 1)})

    def forward(self, x):
        h = self.body(x)
        return {name: head(h) for name, head in self.heads.items()}


def term(name, out, batch):
    if name == "cls":
        return F.cross_entropy(out["cls"], batch["cls"])
    if name == "depth":
        return F.smooth_l1_loss(out["depth"].squeeze(1), batch["depth"])
    return F.binary_cross_entropy_with_logits(out["edge"].squeeze(1), batch["edge"])


class Meter:
    def __init__(self):
        self.sums, self.n = {}, 0

    def update(self, values):
        self.n += 1
        for k, v in values.items():
            self.sums[k] = self.sums.get(k, 0.0) + v.item()

    def __str__(self):
        return " ".join(f"{k} {v / self.n:.4f}" for k, v in self.sums.items())


def make_batches(n=6, size=10):
    w = torch.randn(9, 3)
    for _ in range(n):
        x = torch.randn(size, 9)
        s = x @ w
        yield {"x": x, "cls": s.argmax(1), "depth": s.sum(1).tanh(), "edge": (s[:, 0] > 0).float()}


def main():
    torch.manual_seed(19)
    batches = list(make_batches())
    model = Trunk()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(5):
        meter = Meter()
        totals = {name: 0.0 for name in WEIGHTS}
        for batch in batches:
            out = model(batch["x"])
            for name, weight in WEIGHTS.items():
                totals[name] = totals[name] + weight * term(name, out, batch)
            loss = sum(totals.values())
            opt.zero_grad()
            loss.backward()
            opt.step()
            meter.update(totals)
        print(f"epoch {epoch}: {meter}")


if __name__ == "__main__":
    main()
