"""Autoencoder with tied weights and cached rotary tables."""
import torch
from torch import nn
from torch.nn import functional as F


class Rotary(nn.Module):
    """Tables of sines and cosines, made at the first call and kept."""

    def __init__(self, width, base=100.0):
        super().__init__()
        self.register_buffer("freq", base ** (-torch.arange(0, width, 2).float() / width))
        self.cache = {}

    def tables(self, length):
        if length not in self.cache:
            angle = torch.arange(length).float().unsqueeze(1) * self.freq
            self.cache[length] = (angle.cos(), angle.sin())
        return self.cache[length]

    def forward(self, x):
        cos, sin = self.tables(x.shape[1])
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class TiedAutoencoder(nn.Module):
    def __init__(self, width=8, code=4):
        super().__init__()
        self.rotary = Rotary(width)
        self.enc = nn.Linear(width, code)
        self.bias = nn.Parameter(torch.zeros(width))
        self.dec_weight = self.enc.weight.t()
        self.gain = nn.Parameter(torch.ones(1))
        self.gains = self.gain.expand(code)

    def forward(self, x):
        h = torch.tanh(self.enc(self.rotary(x)) * self.gains)
        return F.linear(h, self.dec_weight, self.bias)


def main():
    torch.manual_seed(32)
    model = TiedAutoencoder()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    basis = torch.randn(3, 8)
    for step in range(30):
        length = 5 if step % 2 else 4
        x = torch.randn(6, length, 3) @ basis * 0.3
        loss = F.mse_loss(model(x), model.rotary(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 6 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    same = torch.equal(model.dec_weight, model.enc.weight.t()) and torch.equal(model.gains, model.gain.expand(4))
    print("views follow the parameters:", same)


if __name__ == "__main__":
    main()
