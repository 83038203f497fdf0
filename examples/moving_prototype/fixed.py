"""Fixed: the old average enters the new one as plain numbers, and nothing needs to be retained.

`self.centres.detach()` cuts exactly what crosses from one step to the next. This batch still trains the embedding, also
through its own share of the average, and every step costs the same.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Prototypes:
    """A moving average of the embeddings of every class."""

    def __init__(self, classes: int, width: int, momentum: float = 0.9) -> None:
        self.centres = torch.randn(classes, width)
        self.momentum = momentum

    def update(self, embedded: Tensor, labels: Tensor) -> None:
        """A little of this batch."""
        members = nn.functional.one_hot(labels, len(self.centres)).float()
        means = members.T @ embedded / members.sum(dim=0).clamp(min=1).unsqueeze(1)
        self.centres = self.momentum * self.centres.detach() + (1 - self.momentum) * means

    def distances(self, embedded: Tensor) -> Tensor:
        """From each sample to each centre."""
        return (embedded.unsqueeze(1) - self.centres).pow(2).sum(dim=2)


def ready_features(count: int, classes: int, width: int) -> TensorDataset:
    """Features of a frozen network: clusters in a space with much noise."""
    labels = torch.arange(count) % classes
    centres = torch.randn(classes, width)
    return TensorDataset(centres[labels] + torch.randn(count, width), labels)


def train(epochs: int) -> None:
    """A linear embedding in which samples lie near the prototype of their class."""
    torch.manual_seed(0)
    loader = DataLoader(ready_features(count=256, classes=4, width=32), batch_size=32, shuffle=True)
    embedding = nn.Linear(32, 8)
    prototypes = Prototypes(classes=4, width=8)
    optimizer = torch.optim.SGD(embedding.parameters(), lr=0.05)
    for epoch in range(epochs):
        total = 0.0
        for features, labels in loader:
            embedded = embedding(features)
            prototypes.update(embedded, labels)
            loss = nn.functional.cross_entropy(-prototypes.distances(embedded), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    train(epochs=6)
