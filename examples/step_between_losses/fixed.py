"""Fixed: after the step, the second loss has a forward pass of its own.

Each gradient now belongs to the weights that it is taken at, and nothing has to be retained. Who wants one step a batch
adds the losses up instead, and calls backward once.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class LabelledAutoencoder(nn.Module):
    """A code from which the input can be rebuilt, and its label told."""

    def __init__(self, inputs: int, labels: int, code: int = 8) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, inputs))
        self.classifier = nn.Linear(code, labels)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What was rebuilt, and scores for the labels."""
        code = self.encoder(x)
        return self.decoder(code), self.classifier(code)


def clusters(count: int, kinds: int, width: int) -> TensorDataset:
    """Noisy copies of a few patterns."""
    labels = torch.arange(count) % kinds
    patterns = torch.randn(kinds, width)
    return TensorDataset(patterns[labels] + 0.2 * torch.randn(count, width), labels)


def train(epochs: int) -> None:
    """Rebuild and classify, batch after batch."""
    torch.manual_seed(0)
    loader = DataLoader(clusters(count=320, kinds=5, width=24), batch_size=32, shuffle=True)
    model = LabelledAutoencoder(inputs=24, labels=5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(epochs):
        totals = torch.zeros(2)
        for x, labels in loader:
            rebuilt, scores = model(x)
            loss_rebuilt = nn.functional.mse_loss(rebuilt, x)
            optimizer.zero_grad()
            loss_rebuilt.backward()
            optimizer.step()
            rebuilt, scores = model(x)
            loss_label = nn.functional.cross_entropy(scores, labels)
            optimizer.zero_grad()
            loss_label.backward()
            optimizer.step()
            totals += torch.tensor([loss_rebuilt.item(), loss_label.item()]) / len(loader)
        print(f"epoch {epoch + 1}: rebuilt {totals[0]:.4f}, label {totals[1]:.4f}")


if __name__ == "__main__":
    train(epochs=8)
