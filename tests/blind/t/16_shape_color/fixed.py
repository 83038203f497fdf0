"""Small CNN that names both the shape and the colour in a synthetic picture."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_pictures(n, size=12):
    g = torch.Generator().manual_seed(3)
    images = 0.1 * torch.randn(n, 3, size, size, generator=g)
    shape = torch.randint(0, 3, (n,), generator=g)
    color = torch.randint(0, 3, (n,), generator=g)
    for i in range(n):
        r, c = torch.randint(2, size - 4, (2,), generator=g).tolist()
        channel = color[i].item()
        if shape[i] == 0:
            images[i, channel, r:r + 4, c:c + 4] += 1.0
        elif shape[i] == 1:
            images[i, channel, r:r + 4, c] += 1.5
        else:
            images[i, channel, r, c:c + 4] += 1.5
    return TensorDataset(images, shape, color)


class ShapeColorNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.AdaptiveMaxPool2d(2), nn.Flatten(),
        )
        self.shape_head = nn.Linear(4 * width, 3)
        self.color_head = nn.Linear(4 * width, 3)

    def forward(self, x):
        features = self.backbone(x)
        return self.shape_head(features), self.color_head(features)


def train_one_epoch(model, loader, optimizer):
    model.train()
    totals = {"shape": 0.0, "color": 0.0, "hits": 0, "seen": 0}
    for images, shape, color in loader:
        optimizer.zero_grad()
        shape_logits, color_logits = model(images)
        loss_shape = F.cross_entropy(shape_logits, shape)
        loss_color = F.cross_entropy(color_logits, color)
        (loss_shape + loss_color).backward()
        optimizer.step()

        totals["shape"] += loss_shape.item() * len(images)
        totals["color"] += loss_color.item() * len(images)
        both = (shape_logits.argmax(1) == shape) & (color_logits.argmax(1) == color)
        totals["hits"] += both.sum().item()
        totals["seen"] += len(images)
    n = totals["seen"]
    return totals["shape"] / n, totals["color"] / n, totals["hits"] / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(make_pictures(256), batch_size=args.batch_size, shuffle=True)
    model = ShapeColorNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        shape_loss, color_loss, acc = train_one_epoch(model, loader, optimizer)
        print(f"epoch {epoch}: shape {shape_loss:.4f}  color {color_loss:.4f}  both right {acc:.2f}")


if __name__ == "__main__":
    main()
