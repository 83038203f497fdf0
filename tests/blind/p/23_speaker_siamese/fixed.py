"""Siamese speaker verification on pairs of utterances.

Both utterances of a pair go through the same encoder; pairs of one speaker
are pulled together and pairs of two speakers are pushed apart to a margin.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)

SPEAKERS, FRAMES, BANDS = 12, 25, 20
voices = torch.randn(SPEAKERS, BANDS)


class RunningRMSNorm(nn.Module):
    """Divide by a running estimate of the root mean square per channel."""

    def __init__(self, channels, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.register_buffer("rms", torch.ones(channels))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                batch_rms = x.pow(2).mean(dim=0).add(self.eps).sqrt()
                self.rms = torch.lerp(self.rms, batch_rms, self.momentum)
        return x / self.rms


class SpeakerEncoder(nn.Module):
    def __init__(self, bands=20, width=48, dim=16):
        super().__init__()
        self.frame = nn.Linear(bands, width)
        self.norm = RunningRMSNorm(width)
        self.proj = nn.Linear(width, dim)

    def forward(self, frames):
        h = torch.relu(self.frame(frames)).mean(dim=1)
        return nn.functional.normalize(self.proj(self.norm(h)), dim=-1)


def utterance(speaker):
    return voices[speaker].unsqueeze(1) + 0.8 * torch.randn(len(speaker), FRAMES, BANDS)


def sample_pairs(n):
    first = torch.randint(0, SPEAKERS, (n,))
    same = torch.rand(n) < 0.5
    second = torch.where(same, first, (first + torch.randint(1, SPEAKERS, (n,))) % SPEAKERS)
    return utterance(first), utterance(second), same.float()


def contrastive_loss(za, zb, same, margin=1.0):
    distance = (za - zb).pow(2).sum(-1).add(1e-6).sqrt()
    return (same * distance.pow(2) + (1 - same) * F.relu(margin - distance).pow(2)).mean()


encoder = SpeakerEncoder(BANDS)
optimizer = torch.optim.AdamW(encoder.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)

encoder.train()
for step in range(40):
    a, b, same = sample_pairs(64)
    za = encoder(a)
    zb = encoder(b)
    loss = contrastive_loss(za, zb, same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 8 == 0:
        print(f"step {step:2d}  loss {loss.item():.4f}")

encoder.eval()
with torch.no_grad():
    a, b, same = sample_pairs(256)
    distance = (encoder(a) - encoder(b)).norm(dim=-1)
    accuracy = ((distance < 0.5).float() == same).float().mean()
print(f"verification accuracy {accuracy:.3f}")
