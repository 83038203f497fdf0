"""Text-length regression with an effective batch of 64 on a machine that only fits 16."""
import torch
from torch import nn

torch.manual_seed(8)

ACCUMULATE = 4
bag = torch.rand(256, 30)
length = bag.sum(1, keepdim=True) * 0.3 + torch.randn(256, 1) * 0.05

net = nn.Sequential(nn.Linear(30, 24), nn.GELU(), nn.Linear(24, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(4):
    running = 0.0
    for i, rows in enumerate(torch.randperm(256).split(16)):
        cost = nn.functional.mse_loss(net(bag[rows]), length[rows]) / ACCUMULATE
        cost.backward()
        running += float(cost.detach())
        if i % ACCUMULATE == ACCUMULATE - 1:
            sgd.step()
            sgd.zero_grad()
    print(epoch, round(running / 4, 5))
