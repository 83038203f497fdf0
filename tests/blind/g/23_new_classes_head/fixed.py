"""Class-incremental learning: the output layer grows when new classes arrive."""
import torch
from torch import nn
from torch.nn import functional as F


class Incremental:
    """A network that learns classes in groups; everything in it goes on learning."""

    def __init__(self, inputs, width=48, lr=0.05):
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.head = nn.Linear(width, 0)
        self.lr = lr
        self.optimizer = torch.optim.SGD(self.parameters(), lr=lr, momentum=0.9)

    def parameters(self):
        return [*self.body.parameters(), *self.head.parameters()]

    def logits(self, x):
        return self.head(self.body(x))

    def add_classes(self, count):
        """A wider head that answers as before for the classes it knows."""
        known = self.head.out_features
        wider = nn.Linear(self.head.in_features, known + count)
        with torch.no_grad():
            wider.weight[:known] = self.head.weight
            wider.bias[:known] = self.head.bias
        self.head = wider
        self.optimizer = torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)

    def learn(self, x, y, epochs=4):
        for epoch in range(epochs):
            total = 0.0
            for rows in torch.randperm(len(x)).split(30):
                loss = F.cross_entropy(self.logits(x[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(rows)
            yield total / len(x)


def groups(classes, per_group, generator):
    centres = 2 * torch.randn(classes, 10, generator=generator)
    for first in range(0, classes, per_group):
        y = torch.randint(first + per_group, (240,), generator=generator)  # old classes are rehearsed
        yield centres[y] + torch.randn(240, 10, generator=generator), y


torch.manual_seed(68)
learner = Incremental(10)
for number, (x, y) in enumerate(groups(9, 3, torch.Generator().manual_seed(13))):
    learner.add_classes(3)
    losses = list(learner.learn(x, y))
    with torch.no_grad():
        accuracy = (learner.logits(x).argmax(1) == y).float().mean().item()
    print(f"group {number}: {learner.head.out_features} classes, loss {losses[0]:.4f} -> {losses[-1]:.4f}, accuracy {accuracy:.3f}")
