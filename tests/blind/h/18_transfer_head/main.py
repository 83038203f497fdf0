"""Transfer learning: pretrain a net on one task, freeze it, train a new head on another."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(44)


class ConvNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.AvgPool1d(4),
            nn.Conv1d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        return self.fc(self.features(x))


def waves(n, frequencies):
    y = torch.randint(len(frequencies), (n,))
    t = torch.linspace(0, 1, 64)
    f = torch.tensor(frequencies)[y][:, None]
    return (torch.sin(6.283 * f * t + 6.283 * torch.rand(n, 1)) + 0.3 * torch.randn(n, 64)).unsqueeze(1), y


def train(model, optimizer, x, y, epochs, name):
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if epoch % 3 == 2:
            print(f"{name} epoch {epoch}: loss {total / len(x):.4f}")


# source task
model = ConvNet(num_classes=3)
x, y = waves(192, [2.0, 5.0, 11.0])
train(model, torch.optim.Adam(model.parameters(), lr=1e-2), x, y, epochs=9, name="source")

# target task: new output layer, everything before it stays as it is
model.fc = nn.Linear(64, 2)
for param in model.parameters():
    param.requires_grad = False

x, y = waves(96, [3.0, 9.0])
train(model, torch.optim.Adam(model.fc.parameters(), lr=1e-2), x, y, epochs=12, name="target")
with torch.no_grad():
    print(f"target accuracy {(model(x).argmax(1) == y).float().mean().item():.3f}")
