"""Segmentation, depth and edges from one trunk; conflicting trunk gradients are projected away."""
import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


def scenes(n, size, seed):
    """Discs on a slanted plane: image, mask, depth and outline."""
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx, cy = torch.rand(2, n, 1, 1, generator=g) * size
    radius = 3 + 3 * torch.rand(n, 1, 1, generator=g)
    dist = ((xx - cx) ** 2 + (yy - cy) ** 2).sqrt()
    mask = (dist < radius).float()
    depth = xx / size - 0.5 * mask
    edge = ((dist - radius).abs() < 1.0).float()
    image = 0.6 * mask + 0.3 * depth + 0.1 * torch.randn(n, size, size, generator=g)
    return image[:, None], {"mask": mask, "depth": depth, "edge": edge}


class SceneNet(nn.Module):
    def __init__(self, tasks, width=8):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
                                   nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Conv2d(width, 1, 1) for t in tasks})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


LOSSES = {"mask": F.binary_cross_entropy_with_logits,
          "depth": F.mse_loss,
          "edge": F.binary_cross_entropy_with_logits}


def flatten(grads):
    return torch.cat([g.reshape(-1) for g in grads])


def unflatten(vector, like):
    out, at = [], 0
    for p in like:
        out.append(vector[at:at + p.numel()].view_as(p))
        at += p.numel()
    return out


def surgery(vectors, rng):
    """Remove from every gradient the part that opposes another task's gradient."""
    fixed = []
    for i, v in enumerate(vectors):
        v = v.clone()
        others = [j for j in range(len(vectors)) if j != i]
        rng.shuffle(others)
        for j in others:
            dot = v @ vectors[j]
            if dot < 0:
                v -= dot / vectors[j].pow(2).sum() * vectors[j]
        fixed.append(v)
    return torch.stack(fixed).sum(0)


def assign_gradients(model, losses, rng):
    trunk = list(model.trunk.parameters())
    vectors = []
    last = list(losses)[-1]
    for task, loss in losses.items():
        head = list(model.heads[task].parameters())
        grads = torch.autograd.grad(loss, trunk + head, retain_graph=task != last)
        vectors.append(flatten(grads[:len(trunk)]))
        for p, g in zip(head, grads[len(trunk):]):
            p.grad = g
    for p, g in zip(trunk, unflatten(surgery(vectors, rng), trunk)):
        p.grad = g


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()
    torch.manual_seed(31)
    rng = random.Random(31)
    images, targets = scenes(128, 20, seed=31)
    model = SceneNet(LOSSES)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(images)).split(16):
            out = model(images[idx])
            losses = {t: fn(out[t], targets[t][idx]) for t, fn in LOSSES.items()}
            assign_gradients(model, losses, rng)
            optimizer.step()
        print(f"epoch {epoch}  " + "  ".join(f"{t} {v.item():.4f}" for t, v in losses.items()))


if __name__ == "__main__":
    main()
