"""Segmentation of blobs with a Dice loss."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    def __init__(self, n=24, size=10):
        g = torch.Generator().manual_seed(400)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.items = []
        for _ in range(n):
            label = torch.zeros(size, size, dtype=torch.long)
            for cls in (1, 2):
                cy, cx = torch.randint(2, size - 2, (2,), generator=g).tolist()
                label[(yy - cy) ** 2 + (xx - cx) ** 2 <= 5] = cls
            image = 0.8 * label.float() + 0.15 * torch.randn(size, size, generator=g)
            self.items.append({"image": image[None], "label": label})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class UNetish(nn.Module):
    def __init__(self, classes=3, width=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Upsample(scale_factor=2))
        self.out = nn.Conv2d(2 * width, classes, 1)

    def forward(self, x):
        skip = self.down(x)
        return self.out(torch.cat([skip, self.mid(skip)], dim=1))


class DiceLoss(nn.Module):
    def __init__(self, classes=3, eps=1.0):
        super().__init__()
        self.classes, self.eps = classes, eps

    def forward(self, logits, label):
        pred = torch.softmax(logits, dim=1)
        target = nn.functional.one_hot(label, self.classes).permute(0, 3, 1, 2).float()
        inter = (pred * target).sum(dim=(0, 2, 3))
        union = pred.sum(dim=(0, 2, 3)) + target.sum(dim=(0, 2, 3))
        return 1 - ((2 * inter + self.eps) / (union + self.eps)).mean()


def main():
    torch.manual_seed(40)
    loader = DataLoader(Blobs(), batch_size=6, shuffle=True)
    net, criterion = UNetish(), DiceLoss()
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    for epoch in range(7):
        total, right = 0.0, 0.0
        for batch in loader:
            logits = net(batch["image"])
            loss = criterion(logits, batch["label"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() / len(loader)
            right += (logits.argmax(1) == batch["label"]).float().mean().item() / len(loader)
        print(f"epoch {epoch}: dice loss {total:.4f} pixel acc {right:.3f}")


if __name__ == "__main__":
    main()
