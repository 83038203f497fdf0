"""Broken: two tasks share an encoder, and each has a backward pass of its own.

One network looks at an image and answers two questions about it; each answer has its loss. Both losses lead through the
same `features`, and the first backward pass frees the encoder behind them on its way. The second finds its own head,
and then nothing. Look for two `backward()` calls below one forward.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class TwoTasks(nn.Module):
    """One encoder, two heads: where is the bright spot, and how large is it?"""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU())
        self.where = nn.Linear(width, 4)
        self.size = nn.Linear(width, 1)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Scores for the four quarters, and a size."""
        features = self.encoder(images)
        return self.where(features), self.size(features).squeeze(1)


def draw_spots(count: int) -> TensorDataset:
    """Images of eight by eight pixels with one bright square in one of their quarters."""
    images = 0.1 * torch.rand(count, 8, 8)
    quarters, sizes = torch.randint(4, (count,)), torch.randint(1, 5, (count,))
    for image, quarter, size in zip(images, quarters.tolist(), sizes.tolist(), strict=True):
        top, left = 4 * (quarter // 2), 4 * (quarter % 2)
        image[top : top + size, left : left + size] += 1
    return TensorDataset(images, quarters, sizes.float())


def train(epochs: int) -> None:
    """Both tasks on every batch."""
    torch.manual_seed(0)
    loader = DataLoader(draw_spots(256), batch_size=32, shuffle=True)
    model = TwoTasks()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(epochs):
        totals = torch.zeros(2)
        for images, quarters, sizes in loader:
            where, size = model(images)
            loss_where = nn.functional.cross_entropy(where, quarters)
            loss_size = nn.functional.mse_loss(size, sizes)
            optimizer.zero_grad()
            loss_where.backward()
            loss_size.backward()
            optimizer.step()
            totals += torch.tensor([loss_where.item(), loss_size.item()]) / len(loader)
        print(f"epoch {epoch + 1}: where {totals[0]:.4f}, size {totals[1]:.4f}")


if __name__ == "__main__":
    train(epochs=8)
