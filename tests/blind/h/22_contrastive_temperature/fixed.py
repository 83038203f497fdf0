"""Image-text style contrastive training with a learnable temperature, as in CLIP."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTowers(nn.Module):
    def __init__(self, left_dim, right_dim, dim=12):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(left_dim, 40), nn.ReLU(), nn.Linear(40, dim))
        self.right = nn.Sequential(nn.Linear(right_dim, 40), nn.ReLU(), nn.Linear(40, dim))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.5)))

    def forward(self, a, b):
        a = F.normalize(self.left(a), dim=-1)
        b = F.normalize(self.right(b), dim=-1)
        scale = self.logit_scale.exp().clamp(max=100.0)  # not hotter than 100, as in the paper
        return scale * a @ b.t()


def clip_loss(logits):
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def pair_loader(batches, n, see, say):
    for _ in range(batches):
        topic = torch.randn(n, see.shape[0])
        yield topic @ see + 0.3 * torch.randn(n, see.shape[1]), topic @ say + 0.3 * torch.randn(n, say.shape[1])


torch.manual_seed(26)
see, say = torch.randn(5, 16), torch.randn(5, 10)
model = TwoTowers(16, 10)
optimizer = torch.optim.AdamW([
    {"params": [p for n, p in model.named_parameters() if n != "logit_scale"], "weight_decay": 0.01},
    {"params": [model.logit_scale], "weight_decay": 0.0, "lr": 2e-2},
], lr=3e-3)

for epoch in range(6):
    losses = []
    for a, b in pair_loader(15, 48, see, say):
        optimizer.zero_grad()
        loss = clip_loss(model(a, b))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    temperature = 1 / model.logit_scale.exp().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}  temperature {temperature:.3f}")
