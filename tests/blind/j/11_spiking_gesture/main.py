"""Spiking network for hand gestures recorded with an event camera.

Leaky integrate-and-fire layers keep their membrane potential between the frames of one
recording. A recording starts with all membranes at rest (zero). The network is trained
with a surrogate gradient on the spike counts of each batch of recordings.
"""
import torch
import torch.nn.functional as F
from torch import nn

FRAMES = 8
PIXELS = 24
GESTURES = 3


class SurrogateSpike(torch.autograd.Function):
    """Heaviside step forwards, fast sigmoid slope backwards."""

    @staticmethod
    def forward(ctx, membrane):
        ctx.save_for_backward(membrane)
        return (membrane > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (membrane,) = ctx.saved_tensors
        return grad_output / (1 + 5 * membrane.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, inputs, outputs, leak=0.85, threshold=1.0):
        super().__init__()
        self.synapses = nn.Linear(inputs, outputs)
        self.leak = leak
        self.threshold = threshold
        self.membrane = None

    def forward(self, spikes):
        current = self.synapses(spikes)
        if self.membrane is None:
            self.membrane = torch.zeros_like(current)
        self.membrane = self.leak * self.membrane + current
        out = SurrogateSpike.apply(self.membrane - self.threshold)
        self.membrane = self.membrane - self.threshold * out
        return out

    def rest(self):
        """Bring the membrane back to its resting potential."""
        if self.membrane is not None:
            self.membrane.fill_(0.0)


class GestureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = LIF(PIXELS, 32)
        self.second = LIF(32, GESTURES)

    def forward(self, recording):
        counts = 0
        for frame in recording.unbind(1):
            counts = counts + self.second(self.first(frame))
        return counts

    def rest(self):
        for layer in self.children():
            layer.rest()


def recordings(patterns, size=20):
    label = torch.randint(0, GESTURES, (size,))
    rate = patterns[label].sigmoid().unsqueeze(1).expand(-1, FRAMES, -1)
    return torch.bernoulli(rate), label


def main():
    torch.manual_seed(11)
    patterns = torch.randn(GESTURES, PIXELS) * 1.5
    net = GestureNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

    hits = []
    for step in range(40):
        events, label = recordings(patterns)
        net.rest()
        counts = net(events)
        loss = F.cross_entropy(counts, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits.append((counts.argmax(1) == label).float().mean().item())
        if step % 10 == 0:
            print(f"step {step:2d} loss {loss.item():.3f} accuracy {hits[-1]:.2f}")
    print("last ten", round(sum(hits[-10:]) / 10, 3))


if __name__ == "__main__":
    main()
