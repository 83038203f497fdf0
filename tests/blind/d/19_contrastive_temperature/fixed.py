"""CLIP-style training of a caption tower and a picture tower."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Tower(nn.Module):
    def __init__(self, n_in, n_embed):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(n_in, 20), nn.ReLU(), nn.Linear(20, n_embed))

    def forward(self, x):
        return F.normalize(self.mlp(x), dim=-1)


class MiniCLIP(nn.Module):
    def __init__(self, n_picture, n_caption, n_embed=8):
        super().__init__()
        self.visual = Tower(n_picture, n_embed)
        self.textual = Tower(n_caption, n_embed)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, pictures, captions):
        image_features = self.visual(pictures)
        text_features = self.textual(captions)
        scale = self.logit_scale.exp()
        logits_per_image = scale * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def clip_loss(logits_per_image, logits_per_text):
    labels = torch.arange(len(logits_per_image))
    return (F.cross_entropy(logits_per_image, labels) + F.cross_entropy(logits_per_text, labels)) / 2


class Pairs:
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        topic = torch.randn(n, 5, generator=gen)
        self.pictures = topic @ torch.randn(5, 12, generator=gen)
        self.captions = topic @ torch.randn(5, 9, generator=gen)

    def __iter__(self):
        order = torch.randperm(len(self.pictures))
        for idx in order.split(12):
            yield self.pictures[idx], self.captions[idx]


def main():
    torch.manual_seed(91)
    model = MiniCLIP(12, 9)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.0)
    pairs = Pairs(48, seed=92)
    for epoch in range(6):
        for pictures, captions in pairs:
            loss = clip_loss(*model(pictures, captions))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} scale {model.logit_scale.exp().item():.3f}")


if __name__ == "__main__":
    main()
