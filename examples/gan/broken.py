"""Broken: the critic's backward pass goes through the generator, and frees what the generator needs.

The usual two steps: first the discriminator learns to tell real points from generated ones, then the generator learns
to fool it. Both use the same `fake`. The discriminator's backward pass does not stop at `fake`: it goes on through the
generator that made it and frees that graph, so the generator's own backward finds nothing. Look for the output of one
network in the loss that trains another.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    """Noise to points in the plane."""

    def __init__(self, noise: int = 4, width: int = 32) -> None:
        super().__init__()
        self.noise = noise
        self.layers = nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, count: int) -> Tensor:
        """So many points."""
        return self.layers(torch.randn(count, self.noise))


class Discriminator(nn.Module):
    """How real a point looks."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, points: Tensor) -> Tensor:
        """One score each; above zero is real."""
        return self.layers(points)


def train(epochs: int) -> None:
    """Both networks, batch after batch."""
    torch.manual_seed(0)
    centre = torch.tensor([2.0, -1.0])
    loader = DataLoader(TensorDataset(centre + 0.3 * torch.randn(512, 2)), batch_size=64, shuffle=True)
    generator, discriminator = Generator(), Discriminator()
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.0, 0.9))
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.0, 0.9))
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        for (real,) in loader:
            ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
            fake = generator(len(real))

            optimizer_d.zero_grad()
            loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake), zeros)
            loss_d.backward()
            optimizer_d.step()

            optimizer_g.zero_grad()
            loss_g = criterion(discriminator(fake), ones)
            loss_g.backward()
            optimizer_g.step()
        distance = (generator(256).mean(0) - centre).norm()
        print(f"epoch {epoch + 1}: fake points are {distance.item():.3f} off")


if __name__ == "__main__":
    train(epochs=9)
