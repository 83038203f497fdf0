"""Binary leak detector for a water network.

Six pressure sensors per junction, one label per junction. Trained with binary
cross entropy; accuracy is reported at the usual threshold of 0.5.
"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)


class LeakDetector(nn.Module):
    def __init__(self, sensors=6):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(sensors, 24),
            nn.ReLU(),
            nn.Linear(24, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def make_junctions(n=320):
    leak = (torch.rand(n) < 0.4).float()
    pressure = 4.0 + 0.3 * torch.randn(n, 6)
    drop = torch.tensor([0.7, 0.5, 0.1, 0.0, 0.3, 0.6])
    return (pressure - leak.unsqueeze(1) * drop - 4.0) / 0.4, leak


loader = DataLoader(TensorDataset(*make_junctions()), batch_size=32, shuffle=True)
model = LeakDetector()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(5):
    total_loss, correct, seen = 0.0, 0, 0
    for readings, labels in loader:
        probs = model(readings)
        preds = (probs > 0.5).float()
        loss = criterion(preds, labels)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        total_loss += loss.item() * len(labels)
        correct += (preds == labels).sum().item()
        seen += len(labels)
    print(f"epoch {epoch}: bce {total_loss / seen:.4f}  acc {correct / seen:.3f}")
