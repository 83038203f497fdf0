"""Tiny CNN that tells drawn shapes apart."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

EPOCHS = 4
BATCH_SIZE = 32
LEARNING_RATE = 3e-3
CLASSES = ["bar", "pole", "cross", "box"]


class ShapeDataset(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(len(CLASSES), (count,), generator=g)
        self.images = 0.3 * torch.randn(count, 1, 12, 12, generator=g)
        for img, label in zip(self.images, self.labels):
            r, c = torch.randint(3, 9, (2,), generator=g).tolist()
            name = CLASSES[label]
            if name in ("bar", "cross"):
                img[0, r, c - 3:c + 3] += 1.5
            if name in ("pole", "cross"):
                img[0, r - 3:r + 3, c] += 1.5
            if name == "box":
                img[0, r - 2:r + 2, c - 2:c + 2] += 1.5

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(24 * 9, len(CLASSES))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def evaluate(model, loader, criterion):
    model.eval()
    torch.set_grad_enabled(False)
    loss, correct, seen = 0.0, 0, 0
    for images, labels in loader:
        output = model(images)
        loss += criterion(output, labels).item() * len(labels)
        correct += (output.argmax(1) == labels).sum().item()
        seen += len(labels)
    return loss / seen, correct / seen


def train(model, loader, criterion, optimizer):
    model.train()
    running = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        output = model(images)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)


def main():
    torch.manual_seed(8)
    train_loader = DataLoader(ShapeDataset(320, 1), batch_size=BATCH_SIZE, shuffle=True)
    test_loader = DataLoader(ShapeDataset(128, 2), batch_size=64)
    model = ShapeNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for epoch in range(EPOCHS):
        train_loss = train(model, train_loader, criterion, optimizer)
        test_loss, accuracy = evaluate(model, test_loader, criterion)
        print(f"Epoch {epoch + 1}/{EPOCHS} train loss {train_loss:.4f} "
              f"test loss {test_loss:.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
