import torch
import torch.nn as nn


class Spiral:
    """Cubic spiral, dy/dt = A y^3, sampled on short windows of a long curve."""

    def __init__(self, n_points=200, t_end=12.0):
        A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
        self.times = torch.linspace(0, t_end, n_points)
        h, fine = (self.times[1] - self.times[0]) / 10, []
        y = torch.tensor([2.0, 0.0])
        for _ in range(n_points):
            fine.append(y)
            for _ in range(10):
                mid = y + h / 2 * (A @ y ** 3)
                y = y + h * (A @ mid ** 3)
        self.curve = torch.stack(fine)

    def batch(self, size, length, gen):
        start = torch.randint(0, len(self.times) - length, (size,), generator=gen)
        idx = start[None, :] + torch.arange(length)[:, None]
        return self.times[:length].tolist(), self.curve[idx]


class Field(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=0.2)
                nn.init.zeros_(m.bias)

    def forward(self, t, y):
        return self.net(y ** 3)
