"""A neural cellular automaton that grows a disc from one cell."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Automaton(nn.Module):
    def __init__(self, channels=8, hidden=32):
        super().__init__()
        self.channels = channels
        sobel = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]) / 8
        identity = torch.zeros(3, 3)
        identity[1, 1] = 1.0
        kernels = torch.stack([identity, sobel, sobel.T])[:, None].repeat(channels, 1, 1, 1)
        self.register_buffer("kernels", kernels)
        self.rule = nn.Sequential(nn.Conv2d(3 * channels, hidden, 1), nn.ReLU(), nn.Conv2d(hidden, channels, 1))
        nn.init.normal_(self.rule[2].weight, std=0.02)
        nn.init.zeros_(self.rule[2].bias)
        self.mix = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)

    def perceive(self, grid):
        return F.conv2d(grid, self.kernels, padding=1, groups=self.channels)

    def forward(self, grid, steps, fire_rate=0.5):
        for _ in range(steps):
            fire = (torch.rand(len(grid), 1, *grid.shape[2:]) < fire_rate).float()
            smooth = torch.tanh(self.mix(grid))
            grid += fire * (self.rule(self.perceive(grid)) + 0.1 * smooth)
        return grid


def disc(size, radius):
    axis = torch.arange(size) - size // 2
    return ((axis[:, None] ** 2 + axis[None, :] ** 2) <= radius ** 2).float()


def seed(count, channels, size):
    grid = torch.zeros(count, channels, size, size)
    grid[:, :, size // 2, size // 2] = 1.0
    return grid


torch.manual_seed(19)
SIZE = 15
target = disc(SIZE, 4)
model = Automaton()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for iteration in range(40):
    grown = model(seed(4, model.channels, SIZE), steps=8)
    loss = F.mse_loss(grown[:, 0], target.expand(4, -1, -1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if iteration % 10 == 9:
        print(f"iteration {iteration + 1}: mse {loss.item():.4f}")
