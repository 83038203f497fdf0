"""Spoken digit classifier on synthetic log-mel clips, with a validation pass after each epoch."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

N_CLASSES, N_MELS, N_FRAMES = 5, 16, 30
EPOCHS, BATCH_SIZE = 4, 32


def make_clips(n, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, N_CLASSES, (n,), generator=gen)
    frames = torch.arange(N_FRAMES).float()
    clips = 0.4 * torch.randn(n, N_MELS, N_FRAMES, generator=gen)
    for i, digit in enumerate(labels.tolist()):
        start = torch.randint(0, 6, (1,), generator=gen).item()
        formant = ((digit * 2 + (frames - start) * (0.1 + 0.05 * digit)) % N_MELS).long()
        clips[i, formant, torch.arange(N_FRAMES)] += 2.0
    return TensorDataset(clips, labels)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(N_MELS, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(32, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
        )
        self.classifier = nn.Linear(32, N_CLASSES)

    def forward(self, clips):
        return self.classifier(self.features(clips).flatten(1))


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for clips, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(clips), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total, hits = 0.0, 0
    for clips, labels in loader:
        logits = model(clips)
        total += criterion(logits, labels).item() * len(labels)
        hits += (logits.argmax(1) == labels).sum().item()
    return total / len(loader.dataset), hits / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train_set, valid_set = make_clips(320, seed=1), make_clips(96, seed=2)
    train_loader = DataLoader(train_set, BATCH_SIZE, shuffle=True)
    valid_loader = DataLoader(valid_set, BATCH_SIZE)
    model = DigitNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    for epoch in range(EPOCHS):
        train_loss = train_epoch(model, train_loader, criterion, optimizer)
        valid_loss, acc = evaluate(model, valid_loader, criterion)
        scheduler.step()
        print(f"epoch {epoch + 1}/{EPOCHS} train {train_loss:.4f} valid {valid_loss:.4f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
