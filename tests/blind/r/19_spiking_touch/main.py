# Spiking network for touch-sensor recordings (2 classes: press / slide)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

NUM_STEPS = 20
NUM_SENSORS = 16
BATCH = 20


class SpikeFn(torch.autograd.Function):
    """Step function, fast-sigmoid surrogate for the gradient."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad_out):
        v, = ctx.saved_tensors
        return grad_out / (1 + 10 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        spike = SpikeFn.apply(self.mem - self.threshold)
        self.mem = self.mem - spike * self.threshold
        return spike


class TouchNet(nn.Module):
    """Counts the output spikes over one recording; a recording starts from rest."""

    def __init__(self, hidden=40):
        super().__init__()
        self.fc1 = nn.Linear(NUM_SENSORS, hidden)
        self.lif1 = LIF()
        self.fc2 = nn.Linear(hidden, 2)
        self.lif2 = LIF()

    def reset(self):
        self.lif1.reset()
        self.lif2.reset()

    def forward(self, x):                     # x: time x batch x sensors
        counts = 0
        for t in range(x.size(0)):
            s = self.lif1(self.fc1(x[t]))
            counts = counts + self.lif2(self.fc2(s))
        return counts


def make_dataset(n):
    labels = torch.randint(0, 2, (n,))
    x = torch.zeros(NUM_STEPS, n, NUM_SENSORS)
    for t in range(NUM_STEPS):
        centre = torch.where(labels == 1, t * NUM_SENSORS / NUM_STEPS, torch.tensor(NUM_SENSORS / 2))
        pos = torch.arange(NUM_SENSORS).float()
        x[t] = torch.exp(-0.3 * (pos - centre.unsqueeze(1)) ** 2)
    return x + 0.15 * torch.randn_like(x), labels


train_x, train_y = make_dataset(200)
test_x, test_y = make_dataset(60)

net = TouchNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)


def accuracy(x, y):
    correct = 0
    with torch.no_grad():
        for i in range(0, len(y), BATCH):
            net.reset()
            counts = net(x[:, i:i + BATCH])
            correct += (counts.argmax(1) == y[i:i + BATCH]).sum().item()
    return correct / len(y)


for epoch in range(6):
    order = torch.randperm(len(train_y))
    net.reset()
    total = 0.0
    for i in range(0, len(order), BATCH):
        idx = order[i:i + BATCH]
        counts = net(train_x[:, idx])
        loss = F.cross_entropy(counts, train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", round(total / (len(order) // BATCH), 4),
          "test acc", round(accuracy(test_x, test_y), 3))
