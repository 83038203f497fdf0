"""Detector with a class head and a box head, trained by a small Trainer class."""
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    epochs: int = 4
    batch_size: int = 8
    lr: float = 0.01
    out: str = "out"


class Boxes(Dataset):
    def __init__(self, n=32, size=8):
        g = torch.Generator().manual_seed(22)
        self.items = []
        for _ in range(n):
            img = 0.1 * torch.randn(1, size, size, generator=g)
            r, c = torch.randint(0, size - 3, (2,), generator=g).tolist()
            kind = int(torch.randint(0, 2, (1,), generator=g))
            img[0, r:r + 3, c:c + 3] += 1.0 if kind else -1.0
            self.items.append({"image": img, "label": kind, "box": torch.tensor([r, c, r + 3, c + 3]) / size})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(),
                                      nn.Flatten(), nn.Linear(96, 24), nn.ReLU(), nn.Dropout(0.1))
        self.cls = nn.Linear(24, 2)
        self.box = nn.Linear(24, 4)

    def forward(self, image):
        f = self.features(image)
        return {"logits": self.cls(f), "box": torch.sigmoid(self.box(f))}


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Detector()
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.loader = DataLoader(Boxes(), batch_size=cfg.batch_size, shuffle=True)

    def step(self, batch):
        out = self.model(batch["image"])
        loss_cls = nn.functional.cross_entropy(out["logits"], batch["label"])
        loss_box = nn.functional.l1_loss(out["box"], batch["box"])
        self.opt.zero_grad()
        loss_cls.backward()
        (5.0 * loss_box).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.opt.step()
        return {"cls": loss_cls.item(), "box": loss_box.item()}

    def save(self, epoch):
        os.makedirs(self.cfg.out, exist_ok=True)
        torch.save({"epoch": epoch, "model": self.model.state_dict(), "opt": self.opt.state_dict()},
                   os.path.join(self.cfg.out, "last.pt"))

    def fit(self):
        for epoch in range(self.cfg.epochs):
            rows = [self.step(b) for b in self.loader]
            mean = {k: sum(r[k] for r in rows) / len(rows) for k in rows[0]}
            self.save(epoch)
            print(f"epoch {epoch}: cls {mean['cls']:.4f} box {mean['box']:.4f}")


if __name__ == "__main__":
    torch.manual_seed(22)
    Trainer(Config()).fit()
