"""One-class anomaly detection on pump vibration features (Deep SVDD with a moving centre).

The embedding network is pulled towards the centre of the normal data. The centre itself is
a running statistic of past embeddings: it moves slowly, and within an update it is a constant.
"""
import torch
from torch import nn

torch.manual_seed(1)

windows = torch.randn(256, 10) * torch.linspace(0.5, 2.0, 10) + 1.0

embed = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(embed.parameters(), lr=1e-2, weight_decay=1e-4)

momentum = 0.9
center = torch.zeros(4)

for step in range(40):
    idx = torch.randint(0, len(windows), (32,))
    z = embed(windows[idx])
    if step == 0:
        center = z.mean(0).detach()
    else:
        center = momentum * center + (1 - momentum) * z.mean(0)
    dist = ((z - center) ** 2).sum(1)
    loss = dist.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"step {step:3d} mean distance {loss.item():.4f}")

with torch.no_grad():
    odd = torch.randn(64, 10) * 5
    score = ((embed(odd) - center) ** 2).sum(1).mean()
print("score of odd windows", round(score.item(), 4))
