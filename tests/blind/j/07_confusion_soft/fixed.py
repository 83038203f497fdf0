"""Classify leaf shapes; report a soft confusion matrix over the whole run.

The matrix is only shown at the end, it is not part of the training.
"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
CLASSES = 4
centres = torch.randn(CLASSES, 6) * 2

model = nn.Sequential(nn.Linear(6, 20), nn.GELU(), nn.Linear(20, CLASSES))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

confusion = torch.zeros(CLASSES, CLASSES)
seen = 0

for step in range(50):
    y = torch.randint(0, CLASSES, (32,))
    x = centres[y] + torch.randn(32, 6)
    logits = model(x)
    loss = F.cross_entropy(logits, y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    truth = F.one_hot(y, CLASSES).float()
    confusion = confusion + truth.T @ logits.detach().softmax(dim=1)
    seen += len(y)
    if step % 10 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")

print("examples", seen)
for row in (confusion / confusion.sum(1, keepdim=True)).tolist():
    print(" ".join(f"{v:.2f}" for v in row))
