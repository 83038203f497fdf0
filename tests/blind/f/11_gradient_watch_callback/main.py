"""Classify beats of a synthetic heart signal with a small trainer and callbacks."""
import torch
import torch.nn as nn

from callbacks import GradientWatch, History
from trainer import Trainer


def beats(count, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(-1, 1, 60)
    label = torch.randint(3, (count,), generator=g)
    width = torch.tensor([0.05, 0.12, 0.25])[label][:, None]
    shift = 0.2 * torch.randn(count, 1, generator=g)
    wave = torch.exp(-((t - shift) / width) ** 2) + 0.2 * torch.randn(count, 60, generator=g)
    return wave[:, None], label


def build():
    return nn.Sequential(
        nn.Conv1d(1, 12, 7, padding=3), nn.ReLU(), nn.MaxPool1d(3),
        nn.Conv1d(12, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(64, 3),
    )


if __name__ == "__main__":
    torch.manual_seed(1)
    model = build()
    history, watch = History(), GradientWatch(every=2)
    trainer = Trainer(model, torch.optim.Adam(model.parameters(), lr=4e-3), nn.CrossEntropyLoss(), [history, watch])
    trainer.fit(*beats(300, seed=9), epochs=4, batch_size=50)
    for epoch, loss in enumerate(history.epochs):
        print(f"epoch {epoch}: loss {loss:.4f}")
    print("largest gradient norm seen:", round(max(watch.norms), 3))
