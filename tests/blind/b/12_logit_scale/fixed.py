"""Contrastive pairs with a learned temperature."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Pairs(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.visual = nn.Linear(10, width)
        self.textual = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, width))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, text):
        i = F.normalize(self.visual(image), dim=-1)
        t = F.normalize(self.textual(text), dim=-1)
        scale = self.logit_scale.exp().clamp(max=100.0)
        logits = scale * i @ t.t()
        return logits, logits.t()


def main():
    torch.manual_seed(12)
    model = Pairs()
    decay = [p for n, p in model.named_parameters() if n != "logit_scale"]
    opt = torch.optim.AdamW([
        {"params": decay, "weight_decay": 0.05},
        {"params": [model.logit_scale], "weight_decay": 0.0},
    ], lr=5e-3)
    mix = torch.randn(10, 6)
    for step in range(25):
        image = torch.randn(8, 10)
        text = image @ mix + 0.1 * torch.randn(8, 6)
        per_image, per_text = model(image, text)
        labels = torch.arange(8)
        loss = (F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(f"step {step}: loss {loss.item():.4f} scale {model.logit_scale.exp().item():.3f}")


if __name__ == "__main__":
    main()
