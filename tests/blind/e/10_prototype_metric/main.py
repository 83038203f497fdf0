"""Embed points so that the classes gather around their prototypes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from losses import PrototypeLoss, SpreadPenalty


class Embedder(nn.Module):
    def __init__(self, in_dim=10, dim=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def blobs(count, classes=5, dim=10):
    centers = 2 * torch.randn(classes, dim)
    labels = torch.randint(0, classes, (count,))
    return centers[labels] + torch.randn(count, dim), labels


def main():
    torch.manual_seed(77)
    x, y = blobs(320)
    train_x, train_y, test_x, test_y = x[:256], y[:256], x[256:], y[256:]
    model = Embedder()
    criterion, spread = PrototypeLoss(classes=5, dim=8), SpreadPenalty()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(6):
        model.train()
        criterion.train()
        total = 0.0
        for index in torch.randperm(len(train_x)).split(32):
            z = model(train_x[index])
            loss = criterion(z, train_y[index]) + 0.1 * spread(z)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        criterion.eval()
        with torch.no_grad():
            guess = criterion.similarities(model(test_x)).argmax(dim=1)
        print(f"epoch {epoch}: loss {total / 8:.4f} accuracy {(guess == test_y).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
