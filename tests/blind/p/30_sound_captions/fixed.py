"""Contrastive pretraining of sound clips and captions, as in CLAP.

The two towers and the temperature (kept as the log of the logit scale, at most
100) are learned jointly.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from model import SoundCaptionModel

torch.manual_seed(19)


class PairLoss(nn.Module):
    def forward(self, a, b, scale):
        logits = scale * a @ b.T
        target = torch.arange(len(a))
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target))


def make_pairs(n, kinds=20, bands=16, frames=24, vocab=60):
    generator = torch.Generator().manual_seed(0)
    spectra = torch.randn(kinds, bands, generator=generator)
    phrases = torch.randint(0, vocab, (kinds, 4), generator=generator)
    kind = torch.randint(0, kinds, (n,))
    spectrogram = spectra[kind].unsqueeze(-1) + 0.5 * torch.randn(n, bands, frames)
    noise = torch.randint(0, vocab, (n, 2))
    return spectrogram, torch.cat([phrases[kind], noise], dim=1)


def parameter_groups(model, weight_decay):
    decay, plain = [], []
    for name, p in model.named_parameters():
        (plain if p.ndim < 2 else decay).append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def train(model, pairs, epochs=8, batch_size=32):
    spectrogram, tokens = pairs
    criterion = PairLoss()
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.01), lr=1e-2)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(tokens)).split(batch_size):
            sound, caption = model(spectrogram[idx], tokens[idx])
            loss = criterion(sound, caption, model.logit_scale.exp())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                model.logit_scale.clamp_(max=math.log(100))
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {total / len(tokens):.4f}  scale {model.logit_scale.exp().item():.2f}")


if __name__ == "__main__":
    train(SoundCaptionModel(), make_pairs(320))
