"""Road segmentation on synthetic tiles: accumulated gradients, an auxiliary head, averaged weights."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class RoadTiles(Dataset):
    def __init__(self, n, size, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
        self.items = []
        for _ in range(n):
            a, b, w = torch.rand(3, generator=g)
            mask = ((yy - (2 * a - 1) * xx - (b - 0.5)).abs() < 0.1 + 0.2 * w).long()
            img = torch.stack([mask * 0.6, mask * 0.4 + 0.2, 1 - mask * 0.5])
            self.items.append((img + 0.3 * torch.randn(img.shape, generator=g), mask))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class SegNet(nn.Module):
    def __init__(self, ch=12, classes=2):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, ch, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(ch, 2 * ch, 3, padding=1), nn.ReLU())
        self.aux = nn.Conv2d(2 * ch, classes, 1)
        self.dec = nn.Sequential(nn.Conv2d(3 * ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, classes, 1))

    def forward(self, x):
        fine = self.enc1(x)
        coarse = self.enc2(fine)
        up = F.interpolate(coarse, size=fine.shape[-2:], mode="nearest")
        main = self.dec(torch.cat([fine, up], dim=1))
        aux = F.interpolate(self.aux(coarse), size=fine.shape[-2:], mode="nearest")
        return main, aux


@torch.no_grad()
def average_into(slow, fast, decay):
    for s, f in zip(slow.parameters(), fast.parameters()):
        s.mul_(decay).add_(f, alpha=1 - decay)


@torch.no_grad()
def iou(model, loader):
    inter = union = 0
    for img, mask in loader:
        pred = model(img)[0].argmax(1)
        inter += ((pred == 1) & (mask == 1)).sum().item()
        union += ((pred == 1) | (mask == 1)).sum().item()
    return inter / max(union, 1)


def main(args):
    torch.manual_seed(args.seed)
    train_loader = DataLoader(RoadTiles(50, 24, args.seed), batch_size=4, shuffle=True)
    val_loader = DataLoader(RoadTiles(12, 24, args.seed + 1), batch_size=4)
    model = SegNet()
    averaged = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: (1 - e / args.epochs) ** 0.9)
    n_batches = len(train_loader)

    for epoch in range(args.epochs):
        running = 0.0
        optimizer.zero_grad()
        for i, (img, mask) in enumerate(train_loader):
            first = i - i % args.accumulate
            group = min(args.accumulate, n_batches - first)
            main_out, aux_out = model(img)
            loss = F.cross_entropy(main_out, mask) + 0.4 * F.cross_entropy(aux_out, mask)
            (loss / group).backward()
            running += loss.item()
            if (i + 1) % args.accumulate == 0 or i + 1 == n_batches:
                optimizer.step()
                optimizer.zero_grad()
                average_into(averaged, model, 0.9)
        schedule.step()
        print(f"epoch {epoch} loss {running / n_batches:.4f} iou {iou(averaged, val_loader):.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--accumulate", type=int, default=3)
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--seed", type=int, default=5)
    main(p.parse_args())
