"""Two-stage transfer: train the head on a frozen backbone, then everything."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Stage:
    name: str
    steps: int
    lr: float
    train_backbone: bool


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(7, 14), nn.Tanh(), nn.Linear(14, 14), nn.Tanh())
        self.head = nn.Linear(14, 3)
        self.freeze = True

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


def run_stage(model, stage, data):
    model.freeze = not stage.train_backbone
    params = list(model.head.parameters())
    if stage.train_backbone:
        params += list(model.backbone.parameters())
    opt = torch.optim.Adam(params, lr=stage.lr)
    for step in range(stage.steps):
        x, y = data[step % len(data)]
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{stage.name}: loss {loss.item():.4f}")


def main():
    torch.manual_seed(8)
    data = []
    for _ in range(4):
        y = torch.randint(0, 3, (10,))
        data.append((torch.randn(10, 7) + y.unsqueeze(1) * 0.6, y))
    model = Classifier()
    run_stage(model, Stage("head only", 8, 1e-2, False), data)
    run_stage(model, Stage("everything", 12, 5e-3, True), data)


if __name__ == "__main__":
    main()
