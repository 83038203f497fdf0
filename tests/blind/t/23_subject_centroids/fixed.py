"""Cross-subject alignment of sensor windows: class centroids of both groups, smoothed over the batches,
are pulled together (moving semantic transfer)."""
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    classes: int = 4
    channels: int = 10
    dim: int = 16
    decay: float = 0.3
    align_weight: float = 0.5
    epochs: int = 6
    batch_size: int = 60
    lr: float = 5e-3
    hidden: List[int] = field(default_factory=lambda: [32])


def subject_group(n, cfg, seed, mix):
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(cfg.classes, cfg.channels, generator=torch.Generator().manual_seed(99))
    y = torch.randint(0, cfg.classes, (n,), generator=g)
    x = 1.5 * centers[y] + 0.7 * torch.randn(n, cfg.channels, generator=g)
    rotation, _ = torch.linalg.qr(torch.eye(cfg.channels) + mix * torch.randn(cfg.channels, cfg.channels, generator=g))
    return x @ (rotation * rotation.diagonal().sign()).t(), y


class CentroidAligner:
    def __init__(self, cfg):
        self.decay = cfg.decay
        self.classes = cfg.classes
        self.source = torch.zeros(cfg.classes, cfg.dim)
        self.target = torch.zeros(cfg.classes, cfg.dim)

    def batch_centroids(self, feats, labels):
        one_hot = F.one_hot(labels, self.classes).to(feats.dtype)
        counts = one_hot.sum(0).clamp(min=1.0)
        return one_hot.t() @ feats / counts[:, None]

    def loss(self, feats_s, labels_s, feats_t, labels_t):
        now_s = self.batch_centroids(feats_s, labels_s)
        now_t = self.batch_centroids(feats_t, labels_t)
        source = (1 - self.decay) * self.source + self.decay * now_s
        target = (1 - self.decay) * self.target + self.decay * now_t
        self.source, self.target = source.detach(), target.detach()
        return F.mse_loss(source, target)


class SensorNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = [cfg.channels, *cfg.hidden, cfg.dim]
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        self.features = nn.Sequential(*layers)
        self.classify = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, x):
        f = self.features(x)
        return f, self.classify(f)


def fit(cfg):
    torch.manual_seed(0)
    xs, ys = subject_group(360, cfg, seed=1, mix=0.0)
    xt, yt = subject_group(360, cfg, seed=2, mix=0.35)
    net, aligner = SensorNet(cfg), CentroidAligner(cfg)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        ramp = cfg.align_weight * min(1.0, epoch / 2)
        ce_sum = align_sum = steps = 0
        for i, j in zip(torch.randperm(len(xs)).split(cfg.batch_size), torch.randperm(len(xt)).split(cfg.batch_size)):
            feats_s, logits_s = net(xs[i])
            feats_t, logits_t = net(xt[j])
            ce = F.cross_entropy(logits_s, ys[i])
            align = aligner.loss(feats_s, ys[i], feats_t, logits_t.argmax(1))
            loss = ce + ramp * align
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ce_sum, align_sum, steps = ce_sum + ce.item(), align_sum + align.item(), steps + 1
        with torch.no_grad():
            acc = (net(xt)[1].argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch}: ce {ce_sum / steps:.4f}  align {align_sum / steps:.4f}  target acc {acc:.3f}")


if __name__ == "__main__":
    fit(Settings())
