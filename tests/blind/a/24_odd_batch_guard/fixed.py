"""Digit-like classification with batch norm; a batch of one sample cannot be normalised."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def patterns(n=33, d=16, classes=4):
    proto = torch.randn(classes, d)
    y = torch.arange(n) % classes
    return TensorDataset(proto[y] + 0.8 * torch.randn(n, d), y)


class Net(nn.Module):
    def __init__(self, d=16, classes=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, classes))

    def forward(self, x):
        return self.net(x)


def evaluate(net, data):
    net.eval()
    with torch.no_grad():
        x, y = data.tensors
        acc = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return acc


def train_epoch(net, loader, opt, criterion):
    seen, total = 0, 0.0
    for x, y in loader:
        if len(x) == 1:                     # BatchNorm needs more than one sample
            continue
        logits = net(x)
        loss = criterion(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(x)
        total += loss.item() * len(x)
    return total / seen


def main():
    torch.manual_seed(24)
    data = patterns()
    loader = DataLoader(data, batch_size=8, shuffle=True)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(4):
        loss = train_epoch(net, loader, opt, criterion)
        print(f"epoch {epoch}: loss {loss:.4f} acc {evaluate(net, data):.3f}")


if __name__ == "__main__":
    main()
