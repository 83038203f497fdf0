"""Speech-like frame classifier with a normalisation layer that keeps running statistics for streaming use."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class StreamingNorm(nn.Module):
    """Normalises with running mean and variance, in training as well, so that training matches deployment."""

    def __init__(self, width, momentum=0.3):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))
        self.momentum = momentum
        self.mean = torch.zeros(width)
        self.var = torch.ones(width)

    def track(self, x):
        m = self.momentum
        self.mean = (1 - m) * self.mean + m * x.mean(0)
        self.var = (1 - m) * self.var + m * x.var(0)

    def forward(self, x):
        y = (x - self.mean) * torch.rsqrt(self.var + 1e-5)
        if self.training:
            self.track(x)
        return y * self.gain + self.shift


class FrameNet(nn.Sequential):
    def __init__(self, bands, classes):
        super().__init__(
            nn.Linear(bands, 32), StreamingNorm(32), nn.ReLU(),
            nn.Linear(32, 32), nn.ReLU(),
            nn.Linear(32, classes))


def frames(n, spectra):
    label = torch.randint(len(spectra), (n,))
    loudness = 0.5 + torch.rand(n, 1)
    return loudness * spectra[label] + 0.3 * torch.randn(n, spectra.shape[1]), label


torch.manual_seed(39)
spectra = torch.rand(4, 20) * 2
net = FrameNet(20, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 101):
    net.train()
    x, label = frames(48, spectra)
    loss = F.cross_entropy(net(x), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        net.eval()
        x, label = frames(300, spectra)
        with torch.no_grad():
            accuracy = (net(x).argmax(1) == label).float().mean().item()
        print(f"step {step}: loss {loss.item():.4f}  accuracy {accuracy:.3f}")
