"""An autoencoder with a linear probe that monitors, during training, what its code knows about the class."""
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


def blobs(n):
    label = torch.randint(5, (n,))
    centre = torch.randn(5, 20, generator=torch.Generator().manual_seed(0))
    return 1.5 * centre[label] + torch.randn(n, 20), label


@dataclass
class Monitor:
    """A linear classifier on the code. It only watches: the code must not be shaped by the labels."""

    probe: nn.Module = field(default_factory=lambda: nn.Linear(4, 5))
    history: list = field(default_factory=list)

    def __post_init__(self):
        self.optimizer = torch.optim.Adam(self.probe.parameters(), lr=1e-2)

    def update(self, code, label):
        logits = self.probe(code)
        loss = F.cross_entropy(logits, label)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history.append((logits.argmax(1) == label).float().mean().item())


@dataclass
class Autoencoder:
    encoder: nn.Module
    decoder: nn.Module
    monitor: Monitor = field(default_factory=Monitor)

    def __post_init__(self):
        self.optimizer = torch.optim.Adam([*self.encoder.parameters(), *self.decoder.parameters()], lr=3e-3)

    def train_batch(self, x, label):
        code = self.encoder(x)
        self.monitor.update(code.detach(), label)
        loss = F.mse_loss(self.decoder(code), x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(4)
x, label = blobs(640)
model = Autoencoder(
    nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 4)),
    nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 20)),
)
for epoch in range(6):
    losses = [model.train_batch(x[rows], label[rows]) for rows in torch.randperm(640).split(64)]
    probed = model.monitor.history[-10:]
    print(f"epoch {epoch}: reconstruction {sum(losses) / 10:.4f}, probe accuracy {sum(probed) / 10:.3f}")
