"""Deep equilibrium classifier of noisy glyphs, trained by implicit differentiation."""
import torch
from torch import nn
import torch.nn.functional as F

from deq import Cell, DEQLayer

torch.manual_seed(515)

in_dim, dim, classes = 49, 32, 6
templates = (torch.rand(classes, in_dim) > 0.6).float()


def get_batch(n=64):
    y = torch.randint(classes, (n,))
    flip = (torch.rand(n, in_dim) < 0.15).float()
    x = (templates[y] - flip).abs()
    return x, y


model = nn.Sequential(DEQLayer(Cell(in_dim, dim), dim), nn.Linear(dim, classes))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)

for step in range(40):
    x, y = get_batch()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

    if step % 10 == 0 or step == 39:
        model.eval()
        with torch.no_grad():
            x, y = get_batch(256)
            acc = (model(x).argmax(1) == y).float().mean().item()
        model.train()
        print(f"step {step:2d}  loss {loss.item():.4f}  acc {acc:.3f}")
