"""Incremental few-shot learning with prototypes and a slow anchor.

Every class has a learned prototype. New batches may pull the prototypes away quickly, so each
update also contains a pull back to a slow copy of the prototypes (the anchor, an exponential
moving average). The anchor is a fixed point of reference inside an update: the pull moves the
prototypes towards it, and nothing is learned through it.
"""
import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 5
DIM = 8


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = nn.Parameter(torch.randn(CLASSES, DIM))
        self.backbone = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, DIM))

    def forward(self, x):
        return -torch.cdist(self.backbone(x), self.points)


class SlowAnchor:
    """Exponential moving average of the prototypes."""

    def __init__(self, points, decay=0.8):
        self.decay = decay
        self.value = points.detach().clone()

    def follow(self, points):
        self.value = torch.lerp(points.detach(), self.value, self.decay)
        return self.value


class Stream:
    """Batches whose class balance drifts over time."""

    def __init__(self):
        self.centres = torch.randn(CLASSES, 12) * 1.5

    def batch(self, step, size=30):
        balance = torch.ones(CLASSES)
        balance[step // 10 % CLASSES] = 6.0
        labels = torch.multinomial(balance, size, replacement=True)
        return self.centres[labels] + torch.randn(size, 12), labels


class Learner:
    def __init__(self, pull=2.0, lr=0.02):
        self.model = Prototypes()
        self.anchor = SlowAnchor(self.model.points)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.pull = pull

    def update(self, x, labels):
        anchor = self.anchor.follow(self.model.points)
        fit = F.cross_entropy(self.model(x), labels)
        stay = (self.model.points - anchor).pow(2).sum(1).mean()
        loss = fit + self.pull * stay
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return fit.item(), stay.item()

    @torch.no_grad()
    def accuracy(self, x, labels):
        return (self.model(x).argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(18)
    stream = Stream()
    learner = Learner()
    for step in range(50):
        fit, stay = learner.update(*stream.batch(step))
        if step % 10 == 0:
            print(f"step {step:2d} fit {fit:.3f} stay {stay:.4f}")
    print("accuracy", round(learner.accuracy(*stream.batch(0, 200)), 3))


if __name__ == "__main__":
    main()
