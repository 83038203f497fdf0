"""Regression with three normalised layers that keep their effective weight for fast inference."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class NormLinear(nn.Linear):
    """Linear layer with unit-norm rows and a learned scale."""

    def __init__(self, n_in, n_out):
        super().__init__(n_in, n_out)
        self.scale = nn.Parameter(torch.ones(n_out, 1))
        self._effective = None

    def train(self, mode=True):
        self._effective = None
        return super().train(mode)

    def effective_weight(self):
        if self._effective is None:
            self._effective = self.scale * self.weight / self.weight.norm(dim=1, keepdim=True)
        return self._effective

    def forward(self, x):
        return nn.functional.linear(x, self.effective_weight(), self.bias)


class Net(nn.Module):
    def __init__(self, d=5, width=12):
        super().__init__()
        self.l1, self.l2, self.l3 = NormLinear(d, width), NormLinear(width, width), NormLinear(width, 1)
        self.drop = nn.Dropout(0.05)

    def forward(self, x):
        h = torch.tanh(self.l1(x))
        h = self.drop(torch.tanh(self.l2(h)))
        return self.l3(h).squeeze(1)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(nn.functional.mse_loss(model(x), y).item() for x, y in loader) / len(loader)


def main():
    torch.manual_seed(18)
    x = torch.randn(64, 5)
    y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]
    train = DataLoader(TensorDataset(x[:48], y[:48]), batch_size=12, shuffle=True)
    valid = DataLoader(TensorDataset(x[48:], y[48:]), batch_size=8)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    best = float("inf")
    os.makedirs("out", exist_ok=True)
    for epoch in range(6):
        model.train()
        total = 0.0
        for xb, yb in train:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        score = validate(model, valid)
        if score < best:
            best = score
            torch.save({"epoch": epoch, "model": model.state_dict()}, "out/best.pt")
        print(f"epoch {epoch}: train {total / len(train):.4f} valid {score:.4f} best {best:.4f}")


if __name__ == "__main__":
    main()
