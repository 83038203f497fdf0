"""Lesion classifier. The scanner images only fit four at a time, so we accumulate
gradients over 8 micro-batches to train with an effective batch of 32."""
import torch
from torch import nn

torch.manual_seed(404)

MICRO = 4
ACCUM_STEPS = 8
EPOCHS = 3


class LesionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(6, 12, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.classifier = nn.Linear(48, 2)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def fake_scans(n):
    labels = torch.randint(0, 2, (n,))
    scans = 0.5 * torch.randn(n, 1, 16, 16)
    scans[labels == 1, :, 5:10, 5:10] += 0.8
    return scans, labels


scans, labels = fake_scans(128)
model = LesionNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    order = torch.randperm(len(scans))
    epoch_loss = 0.0
    for i, idx in enumerate(order.split(MICRO)):
        loss = criterion(model(scans[idx]), labels[idx]) / ACCUM_STEPS
        loss.backward()
        epoch_loss += loss.item()

        if (i + 1) % ACCUM_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()

    with torch.no_grad():
        acc = (model(scans).argmax(1) == labels).float().mean().item()
    print(f"epoch {epoch}: loss {epoch_loss / 4:.4f} acc {acc:.3f}")
