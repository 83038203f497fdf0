"""Metric learning with online mining: only triplets that violate the margin are used."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self, inputs, outputs=4):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


def mine(emb, labels, margin):
    """Anchors with their farthest positive and nearest negative; mask = margin violated."""
    dist = torch.cdist(emb, emb)
    same = labels[:, None] == labels[None, :]
    hardest_pos = dist.masked_fill(~same, -1.0).max(1).values
    hardest_neg = dist.masked_fill(same, 9.0).min(1).values
    gap = hardest_pos - hardest_neg + margin
    return gap, gap > 0


def identities(count=5, d=12):
    centers = torch.randn(count, d) * 2
    while True:
        labels = torch.arange(20) % count
        yield centers[labels] + 0.7 * torch.randn(20, d), labels


torch.manual_seed(50)
net = Embedder(12)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
stream = identities()
empty = 0

for step in range(80):
    x, labels = next(stream)
    gap, violated = mine(net(x), labels, margin=0.4)

    optimizer.zero_grad()
    if violated.any():
        loss = gap[violated].mean()
    else:
        empty += 1  # nothing to learn from this batch
    loss.backward()
    optimizer.step()

    if step % 10 == 0:
        print(f"step {step:2d}  loss {loss.item():.4f}  hard anchors {int(violated.sum())}  empty batches {empty}")

print(f"{empty} of 80 batches had no hard triplet")
