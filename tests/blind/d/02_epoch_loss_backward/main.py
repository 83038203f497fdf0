import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
BATCH_SIZE = 16


class TabularNet(nn.Module):
    def __init__(self, n_features, n_classes):
        super().__init__()
        self.bn = nn.BatchNorm1d(n_features)
        self.fc1 = nn.Linear(n_features, 24)
        self.fc2 = nn.Linear(24, n_classes)

    def forward(self, x):
        x = self.bn(x)
        x = F.leaky_relu(self.fc1(x))
        return self.fc2(x)


def get_loader():
    X = torch.randn(96, 10)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).long() + (X[:, 3] > 1).long()
    return DataLoader(TensorDataset(X, y), batch_size=BATCH_SIZE, shuffle=False)


def validate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for X, y in loader:
            correct += (model(X).argmax(1) == y).sum().item()
    return correct / len(loader.dataset)


def train(model, loader, optimizer, weights):
    for epoch in range(EPOCHS):
        model.train()
        train_loss = 0
        for X, y in loader:
            optimizer.zero_grad()
            output = model(X)
            train_loss += F.cross_entropy(output, y, weight=weights)
            train_loss.backward()
            optimizer.step()
        avg = train_loss / len(loader)
        print("Epoch: {} train loss {:.4f} acc {:.3f}".format(epoch, float(avg), validate(model, loader)))


if __name__ == "__main__":
    torch.manual_seed(7)
    loader = get_loader()
    model = TabularNet(10, 3)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, loader, optimizer, weights=torch.tensor([1.0, 1.0, 2.0]))
