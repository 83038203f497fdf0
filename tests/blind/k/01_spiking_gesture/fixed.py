"""Spiking classifier for event-camera gestures.

Each recording is a short train of event frames.  Recordings have nothing to do
with one another, so every one of them starts from neurons at rest.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FastSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (u,) = ctx.saved_tensors
        return grad / (1 + 10 * u.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, n_in, n_out, beta=0.9):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        nn.init.normal_(self.fc.weight, mean=0.05, std=0.3)
        self.beta = beta
        self.mem = None

    def reset(self):
        """Bring the neurons back to rest."""
        self.mem = None

    def forward(self, x):
        current = self.fc(x)
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        spikes = FastSigmoid.apply(self.mem - 1.0)
        self.mem = self.mem - spikes.detach()
        return spikes


torch.manual_seed(3)
hidden, readout = LIF(20, 16), LIF(16, 4)
net = nn.Sequential(hidden, readout)
rates = torch.rand(4, 20) * 0.8      # how busy each pixel is, by gesture
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for step in range(25):
    labels = torch.randint(0, 4, (8,))
    frames = (torch.rand(12, 8, 20) < rates[labels]).float()   # time, batch, pixels
    hidden.reset()
    readout.reset()
    counts = torch.zeros(8, 4)
    for frame in frames:
        counts = counts + net(frame)
    loss = F.cross_entropy(counts, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(step, round(loss.item(), 4))
