"""Classify crop type from a season of vegetation-index readings.

Trains for a few epochs and evaluates on the validation fields after each one;
the learning rate is lowered when the validation loss stops improving.
"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from engine import evaluate, train_one_epoch


def make_fields(n=400, readings=18, crops=4):
    crop = torch.randint(0, crops, (n,))
    week = torch.linspace(0, 1, readings)
    peak = 0.25 + 0.15 * crop.float().unsqueeze(1) + 0.04 * torch.randn(n, 1)
    ndvi = torch.exp(-((week - peak) / 0.2) ** 2) + 0.08 * torch.randn(n, readings)
    return TensorDataset(ndvi, crop)


def main():
    torch.manual_seed(2024)
    train_set, val_set = random_split(make_fields(), [320, 80])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=80)

    model = nn.Sequential(
        nn.Linear(18, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(48, 4),
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)

    for epoch in range(5):
        train_loss = train_one_epoch(model, train_loader, criterion, optimizer)
        val_loss, val_acc = evaluate(model, val_loader, criterion)
        scheduler.step(val_loss)
        print(f"epoch {epoch}: train {train_loss:.4f}  val {val_loss:.4f}  acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
