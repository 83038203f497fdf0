"""Segmentation of bright blobs trained with the soft Dice loss.

The soft Dice loss compares foreground probabilities with the masks; the hard
Dice score of the thresholded masks is the figure that is reported.
"""
import torch
from torch import nn


class SoftDiceLoss(nn.Module):
    def __init__(self, smooth=1.0, threshold=0.5):
        super().__init__()
        self.smooth = smooth
        self.threshold = threshold

    def forward(self, logits, target):
        probs = torch.sigmoid(logits)
        probs = (probs > self.threshold).float()
        probs = probs.flatten(1)
        target = target.flatten(1)
        inter = (probs * target).sum(1)
        dice = (2 * inter + self.smooth) / (probs.sum(1) + target.sum(1) + self.smooth)
        return 1 - dice.mean()


class TinySegNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(inplace=True),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True))
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        return self.out(self.enc(x))


@torch.no_grad()
def dice_score(logits, target, eps=1e-6):
    pred = (torch.sigmoid(logits) > 0.5).float()
    inter = (pred * target).sum()
    return ((2 * inter + eps) / (pred.sum() + target.sum() + eps)).item()


def make_batch(n=8, size=24):
    ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx, cy = torch.randint(6, size - 6, (2, n, 1, 1))
    r = torch.randint(3, 6, (n, 1, 1))
    mask = (((xs - cx) ** 2 + (ys - cy) ** 2) <= r ** 2).float().unsqueeze(1)
    image = mask + 0.6 * torch.randn_like(mask)
    return image, mask


class Trainer:
    def __init__(self, model, criterion, lr):
        self.model = model
        self.criterion = criterion
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def run_epoch(self, num_batches):
        self.model.train()
        total, score = 0.0, 0.0
        for _ in range(num_batches):
            image, mask = make_batch()
            logits = self.model(image)
            loss = self.criterion(logits, mask)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
            score += dice_score(logits, mask)
        return total / num_batches, score / num_batches


if __name__ == "__main__":
    torch.manual_seed(421)
    trainer = Trainer(TinySegNet(), SoftDiceLoss(), lr=1e-2)
    for epoch in range(6):
        loss, score = trainer.run_epoch(10)
        print(f"epoch {epoch}  loss {loss:.4f}  dice {score:.4f}")
