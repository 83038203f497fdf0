"""Fine-tune a network beside a frozen copy of itself (feature matching)."""
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 14), nn.GELU())
        self.head = nn.Linear(14, classes)

    def forward(self, x):
        features = self.body(x)
        return features, self.head(features)


class FineTuner:
    def __init__(self, net, strength):
        self.net = net
        self.reference = copy.deepcopy(net).eval().requires_grad_(False)
        self.strength = strength
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def clear(self):
        self.reference.zero_grad()

    def loss(self, x, y):
        features, logits = self.net(x)
        before, _ = self.reference(x)
        return nn.functional.cross_entropy(logits, y) + self.strength * (features - before).pow(2).mean()

    def update(self, x, y):
        self.clear()
        loss = self.loss(x, y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def batches(random, count, size=10):
    for _ in range(count):
        x = torch.randn(size, 6, generator=random)
        yield x, (x.sum(1) > 0).long() + (x[:, 0] > 1).long()


def main():
    torch.manual_seed(18)
    random = torch.Generator().manual_seed(180)
    tuner = FineTuner(Net(), strength=0.5)
    for epoch in range(3):
        losses = [tuner.update(x, y) for x, y in batches(random, 6)]
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
