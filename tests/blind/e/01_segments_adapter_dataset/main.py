"""Activity recognition from accelerometer segments: a learned adapter in front of a recurrent classifier."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

NUM_CLASSES = 3


def simulate(count, length=48):
    labels = torch.arange(count) % NUM_CLASSES
    t = torch.linspace(0, 6.28, length)
    freq = (labels + 1).float()[:, None]
    phase = torch.rand(count, 1) * 3.14
    axes = [torch.sin(freq * t + phase), torch.cos(freq * t + phase), 0.2 * torch.randn(count, length)]
    return torch.stack(axes, dim=1) + 0.1 * torch.randn(count, 3, length), labels


class SegmentDataset(Dataset):
    """Fixed-length segments, brought to the width that the classifier expects."""

    def __init__(self, segments, labels, adapter):
        self.features = adapter(segments)
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]


class GRUClassifier(nn.Module):
    def __init__(self, width, hidden=24):
        super().__init__()
        self.gru = nn.GRU(width, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, NUM_CLASSES)

    def forward(self, x):
        _, last = self.gru(x.transpose(1, 2))
        return self.fc(last.squeeze(0))


def evaluate(model, loader):
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(11)
    segments, labels = simulate(120)
    adapter = nn.Sequential(nn.Conv1d(3, 8, kernel_size=5, stride=2), nn.Tanh())
    model = GRUClassifier(width=8)
    train_set = SegmentDataset(segments[:96], labels[:96], adapter)
    test_set = SegmentDataset(segments[96:], labels[96:], adapter)
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(0))
    test_loader = DataLoader(test_set, batch_size=24)

    optimizer = torch.optim.AdamW(list(adapter.parameters()) + list(model.parameters()), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch}: loss {total / len(train_set):.4f} acc {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
