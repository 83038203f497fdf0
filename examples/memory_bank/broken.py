"""Broken: a memory bank stores features together with the graph that made them.

Every sample has a place in a bank; a sample's features are compared with the whole bank and should be most like their
own place. After each batch the new features are written into it. They are written with their history, so the bank,
though a buffer, becomes part of a graph, and the next batch walks into it. Look for a write into something that lives
longer than the step.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class MemoryBank(nn.Module):
    """What the encoder last said about every sample."""

    vectors: Tensor

    def __init__(self, samples: int, width: int) -> None:
        super().__init__()
        self.register_buffer("vectors", nn.functional.normalize(torch.randn(samples, width), dim=1))

    def forward(self, features: Tensor) -> Tensor:
        """How like each place the features are."""
        return features @ self.vectors.T / 0.1

    def update(self, places: Tensor, features: Tensor) -> None:
        """Half old, half new."""
        mixed = 0.5 * self.vectors[places] + 0.5 * features
        self.vectors[places] = nn.functional.normalize(mixed, dim=1)


def views(samples: int, copies: int, width: int) -> TensorDataset:
    """Noisy views of each sample, with the number of its place."""
    originals = torch.randn(samples, width)
    places = torch.arange(samples).repeat(copies)
    return TensorDataset(originals[places] + 0.3 * torch.randn(len(places), width), places)


def train(epochs: int) -> None:
    """Every view should find the place of its sample."""
    torch.manual_seed(0)
    loader = DataLoader(views(samples=64, copies=8, width=20), batch_size=64, shuffle=True)
    encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
    bank = MemoryBank(samples=64, width=16)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.005)
    for epoch in range(epochs):
        total = 0.0
        for inputs, places in loader:
            features = nn.functional.normalize(encoder(inputs), dim=1)
            loss = nn.functional.cross_entropy(bank(features), places)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bank.update(places, features)
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    train(epochs=10)
