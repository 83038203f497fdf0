"""House prices with a small MLP, learning-rate decay and a loss curve."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, n=60, seed=20):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 4, generator=g)
        coef = torch.tensor([2.0, -1.0, 0.5, 1.5])
        self.y = self.x @ coef + 0.3 * self.x[:, 0] * self.x[:, 3] + 0.05 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def train(model, loader, optimizer, scheduler, criterion, epochs):
    losses = []
    for epoch in range(epochs):
        model.train()
        running_loss = 0.0
        for inputs, targets in loader:
            outputs = model(inputs)
            loss = criterion(outputs, targets)
            running_loss += loss
            running_loss.backward()
            optimizer.step()
            losses.append(loss)
        scheduler.step()
        print("Epoch %d: loss %.4f (lr %.4f)" % (epoch + 1, running_loss / len(loader), scheduler.get_last_lr()[0]))
    return losses


def ascii_curve(values, width=30):
    top = max(values)
    for v in values:
        print("#" * max(1, int(width * float(v) / float(top))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Houses(), batch_size=15, shuffle=True)
    model = MLP()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    losses = train(model, loader, optimizer, scheduler, nn.MSELoss(), args.epochs)
    ascii_curve(losses[:: len(loader)])


if __name__ == "__main__":
    main()
