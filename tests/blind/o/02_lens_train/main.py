"""Design a small train of thin lenses by gradient descent.

Paraxial rays (height y, angle theta) go through K lenses.
Between lenses:   y     <- y + d * theta
At a lens:        theta <- theta - y / f
We learn the gaps d_k and the powers 1/f_k so that parallel rays end on the axis
at the sensor, for three field angles.
"""
import torch
from torch import nn

torch.manual_seed(0)


class LensTrain(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.gap = nn.Parameter(torch.full((k,), 0.5) + 0.1 * torch.rand(k))
        self.power = nn.Parameter(0.3 + 0.1 * torch.randn(k))
        self.back = nn.Parameter(torch.tensor(1.0))

    def forward(self, y0, theta0):
        y = y0.clone()
        theta = theta0.clone()
        for d, p in zip(self.gap, self.power):
            # thin lens
            theta -= y * p
            # free flight
            y += d * theta
        return y + self.back * theta


def make_rays(n=64):
    y = torch.linspace(-1, 1, n).repeat(3)
    field = torch.tensor([-0.1, 0.0, 0.1]).repeat_interleave(n)
    target = 1.5 * field          # image height = focal length * field angle
    return y, field, target


lens = LensTrain()
opt = torch.optim.Adam(lens.parameters(), lr=0.02)
y, field, target = make_rays()

for it in range(30):
    opt.zero_grad()
    hit = lens(y, field)
    spot = ((hit - target) ** 2).mean()
    spot.backward()
    opt.step()
    if it % 10 == 0:
        print(it, round(spot.item(), 6))

print("gaps  ", [round(v, 3) for v in lens.gap.tolist()])
print("powers", [round(v, 3) for v in lens.power.tolist()])
