"""Spiking classifier for short event-camera recordings of hand gestures.

Every recording is an independent clip of T frames; the class is read from the
spike counts of the output layer.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

T, N_IN, N_HIDDEN, N_CLASSES = 12, 32, 48, 4
BATCH, EPOCHS = 32, 4


class FastSigmoidSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad_out):
        (v,) = ctx.saved_tensors
        return grad_out / (1.0 + 10.0 * v.abs()) ** 2


class LIF(nn.Module):
    """Leaky integrate-and-fire neurons with soft reset."""

    def __init__(self, tau=0.85, threshold=1.0):
        super().__init__()
        self.tau = tau
        self.threshold = threshold
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.tau * self.mem + current
        spikes = FastSigmoidSpike.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes * self.threshold
        return spikes


class GestureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc_in = nn.Linear(N_IN, N_HIDDEN)
        self.lif_in = LIF()
        self.fc_out = nn.Linear(N_HIDDEN, N_CLASSES)
        self.lif_out = LIF(tau=0.95)

    def reset(self):
        for m in self.modules():
            if isinstance(m, LIF):
                m.reset()

    def forward(self, clip):
        counts = 0
        for frame in clip.unbind(dim=1):
            hidden = self.lif_in(self.fc_in(frame))
            counts = counts + self.lif_out(self.fc_out(hidden))
        return counts


def make_clips(n, prototypes):
    labels = torch.randint(0, N_CLASSES, (n,))
    rate = torch.sigmoid(prototypes[labels] + 0.4 * torch.randn(n, T, N_IN))
    return torch.bernoulli(rate), labels


def evaluate(net, clips, labels):
    net.reset()
    with torch.no_grad():
        pred = net(clips).argmax(dim=1)
    net.reset()
    return (pred == labels).float().mean().item()


def train():
    prototypes = 1.5 * torch.randn(N_CLASSES, T, N_IN)
    train_x, train_y = make_clips(320, prototypes)
    test_x, test_y = make_clips(96, prototypes)

    net = GestureNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)

    for epoch in range(EPOCHS):
        order = torch.randperm(len(train_x))
        running = 0.0
        for i in range(0, len(order), BATCH):
            idx = order[i:i + BATCH]
            net.reset()
            counts = net(train_x[idx])
            loss = F.cross_entropy(counts, train_y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        acc = evaluate(net, test_x, test_y)
        print(f"epoch {epoch}: loss {running / (len(order) // BATCH):.4f}  test acc {acc:.3f}")


if __name__ == "__main__":
    train()
