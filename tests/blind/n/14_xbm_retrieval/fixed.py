"""Metric learning for product images with a cross-batch memory.

Contrastive loss between the current batch (anchors) and the current batch plus the
embeddings of the last few batches. Features drift slowly, so embeddings of past
iterations serve as extra reference points (Wang et al., Cross-Batch Memory, 2020).
"""
from collections import deque
from dataclasses import dataclass, field

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(640)


@dataclass
class Config:
    classes: int = 12
    n_in: int = 20
    dim: int = 8
    batch: int = 32
    memory_batches: int = 4
    iterations: int = 24
    warmup: int = 3
    margin: float = 0.4
    lr: float = 3e-3


@dataclass
class CrossBatchMemory:
    capacity: int
    embeddings: deque = field(default_factory=deque)
    labels: deque = field(default_factory=deque)

    def push(self, emb, lab):
        self.embeddings.append(emb.detach())
        self.labels.append(lab)
        while len(self.labels) > self.capacity:
            self.embeddings.popleft()
            self.labels.popleft()

    def references(self):
        return torch.cat(list(self.embeddings)), torch.cat(list(self.labels))

    def __bool__(self):
        return len(self.labels) > 0


class ProductEmbedder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.n_in, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.proj = nn.Linear(48, cfg.dim)

    def forward(self, x):
        return F.normalize(self.proj(self.body(x)), dim=1)


def contrastive(anchors, labels, refs, ref_labels, margin, skip_self=False):
    sim = anchors @ refs.t()
    same = labels[:, None] == ref_labels[None, :]
    if skip_self:
        keep = ~torch.eye(len(anchors), dtype=torch.bool)
    else:
        keep = torch.ones_like(same)
    pos = (1 - sim)[same & keep]
    neg = F.relu(sim - margin)[~same]
    loss = sim.new_zeros(())
    if len(pos):
        loss = loss + pos.mean()
    hard = neg[neg > 0]
    if len(hard):
        loss = loss + hard.mean()
    return loss


class Products:
    def __init__(self, cfg):
        self.cfg = cfg
        self.centres = torch.randn(cfg.classes, cfg.n_in)

    def batch(self):
        y = torch.randint(0, self.cfg.classes, (self.cfg.batch,))
        return self.centres[y] + 0.6 * torch.randn(self.cfg.batch, self.cfg.n_in), y


def recall_at_1(model, products):
    with torch.no_grad():
        x, y = products.batch()
        e = model(x)
        sim = e @ e.t()
        sim.fill_diagonal_(-1)
        return (y[sim.argmax(1)] == y).float().mean().item()


def train(cfg):
    products = Products(cfg)
    model = ProductEmbedder(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    memory = CrossBatchMemory(cfg.memory_batches)

    for it in range(cfg.iterations):
        x, y = products.batch()
        emb = model(x)
        loss = contrastive(emb, y, emb, y, cfg.margin, skip_self=True)
        if it >= cfg.warmup and memory:
            refs, ref_labels = memory.references()
            loss = loss + contrastive(emb, y, refs, ref_labels, cfg.margin)
        memory.push(emb, y)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 6 == 0:
            print(f"it {it:3d}  loss {loss.item():.4f}  R@1 {recall_at_1(model, products):.3f}")


if __name__ == "__main__":
    train(Config())
