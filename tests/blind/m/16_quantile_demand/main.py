"""Quantile regression of the daily demand for bicycles."""
import torch
import torch.nn as nn

torch.manual_seed(123)

weather = torch.randn(365, 4)
demand = 5 + weather[:, 0] - 0.5 * weather[:, 1] + torch.randn(365) * (1 + weather[:, 2].abs())
quantiles = [0.1, 0.5, 0.9]

net = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, len(quantiles)))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def pinball_loss(pred, y, q):
    diff = y - pred
    return torch.max(q * diff, (q - 1) * diff).mean()


for epoch in range(20):
    out = net(weather)
    # one loss per quantile, all equally important
    pinball = torch.tensor([pinball_loss(out[:, k], demand, q) for k, q in enumerate(quantiles)])
    opt.zero_grad()
    pinball.mean().backward()
    opt.step()
    if epoch % 5 == 0:
        print(epoch, [round(v, 3) for v in pinball.tolist()])
