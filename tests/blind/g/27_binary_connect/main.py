"""BinaryConnect: forward and backward with binary weights, updates of the real ones."""
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F


class Binarizer:
    def __init__(self, model):
        self.weights = [m.weight for m in model.modules() if isinstance(m, nn.Linear)]
        self.real = [w.detach().clone() for w in self.weights]

    @contextlib.contextmanager
    def binary_weights(self):
        for weight, real in zip(self.weights, self.real):
            real.copy_(weight.data)
            weight.data.copy_(real.sign() * real.abs().mean())
        try:
            yield
        finally:
            for weight, real in zip(self.weights, self.real):
                weight.data.copy_(real)

    def clip(self):
        for weight in self.weights:
            weight.data.clamp_(-1, 1)


def two_spirals(n):
    t = torch.sqrt(torch.rand(n)) * 6
    label = torch.arange(n) % 2
    angle = t + torch.pi * label
    return torch.stack([t * angle.cos(), t * angle.sin()], 1) / 6 + 0.02 * torch.randn(n, 2), label


def lift(x):
    """Random features, so that binary layers have something to choose from."""
    generator = torch.Generator().manual_seed(0)
    return torch.sin(4 * x @ torch.randn(2, 60, generator=generator))


def main():
    torch.manual_seed(77)
    x, y = two_spirals(500)
    x = lift(x)
    model = nn.Sequential(nn.Linear(60, 64), nn.BatchNorm1d(64), nn.Hardtanh(), nn.Linear(64, 2))
    binarizer = Binarizer(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(8):
        total = hits = 0.0
        for rows in torch.randperm(500).split(50):
            optimizer.zero_grad()
            with binarizer.binary_weights():
                logits = model(x[rows])
                loss = F.cross_entropy(logits, y[rows])
                loss.backward()
            optimizer.step()
            binarizer.clip()
            total += loss.item() / 10
            hits += (logits.argmax(1) == y[rows]).sum().item() / 500
        print(f"epoch {epoch}: loss {total:.4f} accuracy {hits:.3f}")


main()
