"""Siamese speaker verification on pairs of utterances.

Both utterances of a pair go through the same encoder; pairs of one speaker
are pulled together and pairs of two speakers are pushed apart to a margin.
"""
import torch
import torch.nn.functional as F

from layers import SpeakerEncoder

torch.manual_seed(31)

SPEAKERS, FRAMES, BANDS = 12, 25, 20
voices = torch.randn(SPEAKERS, BANDS)


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
