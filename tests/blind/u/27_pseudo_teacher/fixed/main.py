"""Semi-supervised speaker-emotion tagging: a weight-averaged teacher guides the student on unlabelled clips."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from averaging import WeightAverage


@dataclass
class Config:
    dim: int = 24
    emotions: int = 4
    labelled: int = 48
    unlabelled: int = 320
    batch: int = 16
    epochs: int = 2
    decay: float = 0.9
    weight: float = 2.0
    ramp: int = 10
    lr: float = 4e-3
    seed: int = 41


def make_clips(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    centres = torch.randn(cfg.emotions, cfg.dim, generator=gen)
    n = cfg.labelled + cfg.unlabelled + 200
    labels = torch.randint(0, cfg.emotions, (n,), generator=gen)
    clips = centres[labels] + 0.9 * torch.randn(n, cfg.dim, generator=gen)
    cuts = [cfg.labelled, cfg.unlabelled, 200]
    return list(zip(clips.split(cuts), labels.split(cuts)))


def augment(x):
    return x + 0.3 * torch.randn_like(x)


class EmotionNet(nn.Module):
    def __init__(self, dim, emotions):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(dim, 48), nn.LayerNorm(48), nn.GELU(),
            nn.Linear(48, 48), nn.GELU(),
            nn.Linear(48, emotions),
        )

    def forward(self, x):
        return self.layers(x)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    (xl, yl), (xu, _), (xt, yt) = make_clips(cfg)
    student = EmotionNet(cfg.dim, cfg.emotions)
    teacher = WeightAverage(student, cfg.decay)
    optimizer = torch.optim.AdamW(student.parameters(), lr=cfg.lr)

    step = 0
    for epoch in range(cfg.epochs):
        sup_sum, con_sum, n = 0.0, 0.0, 0
        for idx in torch.randperm(len(xu)).split(cfg.batch):
            pick = torch.randint(0, len(xl), (cfg.batch,))
            target = teacher.predict(augment(xu[idx])).softmax(dim=-1)
            supervised = F.cross_entropy(student(augment(xl[pick])), yl[pick])
            guess = student(augment(xu[idx])).log_softmax(dim=-1)
            consistency = F.kl_div(guess, target, reduction="batchmean")
            weight = cfg.weight * min(1.0, step / cfg.ramp)
            loss = supervised + weight * consistency
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            teacher.update()
            step += 1
            sup_sum += supervised.item()
            con_sum += consistency.item()
            n += 1
        acc = (teacher.predict(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch}: supervised {sup_sum / n:.4f} consistency {con_sum / n:.4f} teacher {acc:.3f}")


if __name__ == "__main__":
    main()
