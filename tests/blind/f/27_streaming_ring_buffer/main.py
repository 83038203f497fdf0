"""Causal convolution over an endless stream: each layer keeps the last inputs of the chunk before in a buffer."""
import torch
from torch import nn
from torch.nn import functional as F


class StreamConv(nn.Module):
    def __init__(self, inputs, outputs, taps, streams):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, taps)
        self.register_buffer("past", torch.zeros(streams, inputs, taps - 1), persistent=False)

    def reset(self):
        self.past.zero_()

    def forward(self, chunk):
        joined = torch.cat([self.past.clone(), chunk], dim=2)
        with torch.no_grad():
            self.past.copy_(joined[:, :, -self.past.shape[2]:])
        return self.conv(joined)


class Denoiser(nn.Module):
    def __init__(self, streams, width=12):
        super().__init__()
        self.layers = nn.ModuleList([
            StreamConv(1, width, 5, streams),
            StreamConv(width, width, 5, streams),
            StreamConv(width, 1, 5, streams),
        ])

    def reset(self):
        for layer in self.layers:
            layer.reset()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.leaky_relu(layer(x), 0.1)
        return self.layers[-1](x)


def recordings(streams, length):
    t = torch.arange(length) / 40
    pitch = 0.5 + torch.rand(streams, 1)
    clean = torch.sin(6.28 * pitch * t) * torch.sin(0.4 * t)
    return clean + 0.4 * torch.randn(streams, length), clean


def main():
    torch.manual_seed(61)
    noisy, clean = recordings(8, 960)
    net = Denoiser(streams=8)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    for epoch in range(4):
        net.reset()
        total = 0.0
        pieces = zip(noisy.split(60, 1), clean.split(60, 1))
        for chunk, wanted in pieces:
            loss = F.mse_loss(net(chunk[:, None]).squeeze(1), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 16
        print(f"epoch {epoch}: mse {total:.4f}")


main()
