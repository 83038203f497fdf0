"""Deep residual net on a small regression task, with home-made activation checkpointing to save memory."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from fixed_checkpointing import checkpoint


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, h):
        return h + self.down(F.gelu(self.up(self.norm(h))))


class DeepNet(nn.Module):
    def __init__(self, inputs, width=16, depth=6):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.body = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.stem(x).tanh()
        h = checkpoint(self.body, h)
        return self.out(h).squeeze(1)


def main():
    torch.manual_seed(47)
    x = torch.randn(200, 5)
    y = torch.sin(2 * x[:, 0]) * x[:, 1] + 0.5 * x[:, 2]
    net = DeepNet(5)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(10):
        total = 0.0
        for rows in torch.randperm(200).split(50):
            optimizer.zero_grad()
            loss = F.mse_loss(net(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() / 4
        if epoch % 2 == 1:
            print(f"epoch {epoch}: loss {total:.4f}")


if __name__ == "__main__":
    main()
