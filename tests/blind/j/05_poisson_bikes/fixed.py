"""Count rented bikes per hour with Poisson regression.

The rate is exp(linear) plus a small floor, so that the log in the likelihood is safe.
"""
import torch
from torch import nn

torch.manual_seed(5)
hours = torch.rand(300) * 24
temp = torch.randn(300)
x = torch.stack([torch.sin(hours / 24 * 6.283), torch.cos(hours / 24 * 6.283), temp], 1)
counts = torch.poisson(torch.exp(0.8 * x[:, 0] - 0.4 * x[:, 1] + 0.5 * x[:, 2] + 1.0))

linear = nn.Linear(3, 1)
opt = torch.optim.SGD(linear.parameters(), lr=0.05)
FLOOR = 1e-3

for epoch in range(40):
    rate = torch.exp(linear(x).squeeze(1))
    rate = rate + FLOOR
    nll = (rate - counts * torch.log(rate)).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if epoch % 10 == 0:
        print(epoch, "nll", round(nll.item(), 4))

print("coefficients", [round(v, 2) for v in linear.weight[0].tolist()])
