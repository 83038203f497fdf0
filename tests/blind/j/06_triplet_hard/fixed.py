"""Face verification with triplets: the margin loss is averaged over the hard triplets only.

A triplet is hard when its loss is above zero.
"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
people = torch.randn(8, 20)


def photo(person):
    return people[person] + 0.6 * torch.randn(20)


encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)

for step in range(40):
    hard = []
    for _ in range(16):
        who, other = torch.randperm(8)[:2].tolist()
        a, p, n = encoder(torch.stack([photo(who), photo(who), photo(other)]))
        d_pos = (a - p).norm()
        d_neg = (a - n).norm()
        triplet_loss = F.relu(d_pos - d_neg + 1.0)
        if triplet_loss > 0:
            hard.append(triplet_loss)
    if not hard:
        continue
    loss = torch.stack(hard).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        print("step", step, "hard", len(hard), "loss", round(loss.item(), 3))
