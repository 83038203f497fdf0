"""Keyword spotting on log-mel patches with a small convolutional net and SAM."""
import argparse

import torch
from torch import nn

from sam import SAM


def synth_keywords(per_class, classes, mels, frames, seed):
    """Every keyword is a ridge with its own slope over the mel bands."""
    gen = torch.Generator().manual_seed(seed)
    feats, labels = [], []
    band = torch.arange(mels).unsqueeze(1)
    time = torch.arange(frames).unsqueeze(0)
    for c in range(classes):
        slope = (c - classes / 2) * 0.5
        for _ in range(per_class):
            start = mels / 2 + 2 * torch.randn(1, generator=gen)
            ridge = torch.exp(-0.5 * (band - start - slope * (time - frames / 2)) ** 2)
            feats.append(ridge + 0.3 * torch.randn(mels, frames, generator=gen))
            labels.append(c)
    feats, labels = torch.stack(feats).unsqueeze(1), torch.tensor(labels)
    perm = torch.randperm(len(labels), generator=gen)
    return feats[perm], labels[perm]


class KeywordNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        h = torch.relu(self.conv1(x))
        h = torch.relu(self.norm(self.conv2(h)))
        return self.fc(h.amax(dim=(2, 3)))


def train_one_epoch(model, optimizer, criterion, feats, labels, batch_size):
    total = 0.0
    for fb, lb in zip(feats.split(batch_size), labels.split(batch_size)):
        loss = criterion(model(fb), lb)
        loss.backward()
        optimizer.first_step(zero_grad=True)

        criterion(model(fb), lb).backward()
        optimizer.second_step(zero_grad=True)
        total += loss.item() * len(lb)
    return total / len(labels)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--rho", type=float, default=0.05)
    ap.add_argument("--lr", type=float, default=0.03)
    args = ap.parse_args()

    torch.manual_seed(2)
    classes = 4
    feats, labels = synth_keywords(40, classes, mels=16, frames=20, seed=6)
    model = KeywordNet(classes)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=args.rho, lr=args.lr, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.base, T_max=args.epochs)

    for epoch in range(args.epochs):
        loss = train_one_epoch(model, optimizer, criterion, feats, labels, batch_size=20)
        schedule.step()
        with torch.no_grad():
            acc = (model(feats).argmax(1) == labels).float().mean().item()
        print(f"epoch {epoch}: loss {loss:.4f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
