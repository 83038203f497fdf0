"""A mixture of experts with a balance loss that the layers collect."""
import torch
from torch import nn

from moe_fixed import MoELayer


class Model(nn.Module):
    def __init__(self, size=8, layers=2, classes=3):
        super().__init__()
        self.layers = nn.ModuleList(MoELayer(size, experts=3) for _ in range(layers))
        self.head = nn.Linear(size, classes)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)

    def balance_loss(self):
        return sum(layer.balance for layer in self.layers)


def data(steps):
    random = torch.Generator().manual_seed(120)
    for _ in range(steps):
        x = torch.randn(20, 8, generator=random)
        yield x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long()


def main():
    torch.manual_seed(12)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, (x, y) in enumerate(data(10), start=1):
        logits = model(x)
        task = nn.functional.cross_entropy(logits, y)
        loss = task + 0.1 * model.balance_loss()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step}: task {task.item():.4f} total {loss.item():.4f}")


if __name__ == "__main__":
    main()
