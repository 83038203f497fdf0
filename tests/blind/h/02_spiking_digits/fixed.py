"""A small spiking classifier: leaky integrate-and-fire neurons, rate-coded inputs, surrogate gradient."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from lif import LIF

STEPS = 12


class SpikingNet(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.lif1 = LIF(beta=0.9)
        self.fc2 = nn.Linear(hidden, classes)
        self.lif2 = LIF(beta=0.8)

    def reset(self):
        self.lif1.reset()
        self.lif2.reset()

    def forward(self, spikes):
        return self.lif2(self.fc2(self.lif1(self.fc1(spikes))))


def poisson(x):
    """Rate coding: one Bernoulli draw per time step."""
    return [torch.bernoulli(x) for _ in range(STEPS)]


def make_data(n=160, d=16, classes=3):
    centers = torch.rand(classes, d)
    y = torch.randint(classes, (n,))
    x = (centers[y] + 0.15 * torch.randn(n, d)).clamp(0, 1)
    return x, y


def train():
    torch.manual_seed(11)
    x, y = make_data()
    net = SpikingNet(16, 32, 3)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(6):
        total, right = 0.0, 0
        for xb, yb in zip(x.split(40), y.split(40)):
            # every presentation of an image starts from neurons at rest
            net.reset()
            rate = torch.zeros(len(xb), 3)
            for frame in poisson(xb):
                rate = rate + net(frame)
            loss = F.cross_entropy(rate / STEPS * 5, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            right += (rate.argmax(1) == yb).sum().item()
        print(f"epoch {epoch}: loss {total / 4:.4f}  accuracy {right / len(x):.3f}")


if __name__ == "__main__":
    train()
