"""Fine-tune the pump vibration network from five fault classes to the three of the new plant."""
import torch
import torch.nn.functional as F

from backbone import PumpNet
from plant import vibration

torch.manual_seed(14)


def fit(net, tuner, x, y, epochs, tag):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(40):
            cost = F.cross_entropy(net(x[rows]), y[rows])
            tuner.zero_grad()
            cost.backward()
            tuner.step()
    with torch.no_grad():
        hits = (net(x).argmax(1) == y).float().mean().item()
    print(f"{tag}: accuracy {hits:.2f}")


x_old, y_old = vibration(200, faults=5)
x_new, y_new = vibration(120, faults=3)

net = PumpNet(faults=5)
fit(net, torch.optim.Adam(net.parameters(), lr=0.01), x_old, y_old, 4, "old plant")

# a gentle rate: everything is fine-tuned, the fresh head included
tuner = torch.optim.SGD(net.parameters(), lr=0.02)
net.swap_head(faults=3)
fit(net, tuner, x_new, y_new, 6, "new plant")
