"""Autoencoder trained with a Hessian-free optimizer."""
import torch
import torch.nn as nn

from optimizer import HessianFree


class Autoencoder(nn.Module):
    def __init__(self, dim=12, code=3):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(dim, 10), nn.Tanh(), nn.Linear(10, code))
        self.decode = nn.Sequential(nn.Linear(code, 10), nn.Tanh(), nn.Linear(10, dim))

    def forward(self, x):
        return self.decode(self.encode(x))


def curve_data(n=96, dim=12):
    t = torch.rand(n, 1) * 6
    freq = torch.linspace(0.3, 1.5, dim)
    return torch.sin(t * freq) + 0.02 * torch.randn(n, dim)


def main():
    torch.manual_seed(83)
    data = curve_data()
    net = Autoencoder()
    hf = HessianFree(net.parameters())
    for it in range(15):
        batch = data[torch.randperm(len(data))[:64]]

        def closure():
            return ((net(batch) - batch) ** 2).sum(dim=1).mean()

        loss, products = hf.step(closure)
        if it % 3 == 0:
            print(f"it {it:2d} loss {loss:.4f} products {products} damping {hf.damping:.3f}")


if __name__ == "__main__":
    main()
