"""Next-sample prediction on bucketed signals with learned rotary frequencies.

Signals are batched in buckets of equal length. The rotary frequencies belong to the model
and are trained with everything else, at a rate of their own.
"""
from dataclasses import dataclass

import torch

from model import SignalTransformer
from rotary import RotaryEmbedding


@dataclass
class Config:
    steps: int = 45
    batch: int = 12
    buckets: tuple = (10, 14, 18)
    lr: float = 3e-3
    lr_freqs: float = 1e-2
    width: int = 16
    heads: int = 2


class Buckets:
    """Cycles through the bucket lengths."""

    def __init__(self, cfg):
        self.cfg = cfg

    def __iter__(self):
        for step in range(self.cfg.steps):
            length = self.cfg.buckets[step % len(self.cfg.buckets)]
            phase = torch.rand(self.cfg.batch, 1) * 6.283
            pace = 0.4 + 0.5 * torch.rand(self.cfg.batch, 1)
            yield torch.sin(phase + pace * torch.arange(length + 1.0))


def parameter_groups(model, cfg):
    freqs = [p for n, p in model.named_parameters() if n.endswith("freqs")]
    rest = [p for n, p in model.named_parameters() if not n.endswith("freqs")]
    return [{"params": rest}, {"params": freqs, "lr": cfg.lr_freqs}]


def main():
    torch.manual_seed(21)
    cfg = Config()
    rotary = RotaryEmbedding(cfg.width // cfg.heads, learned=True)
    model = SignalTransformer(rotary, cfg.width, cfg.heads)
    optimizer = torch.optim.AdamW(parameter_groups(model, cfg), lr=cfg.lr, weight_decay=0.0)

    for step, signal in enumerate(Buckets(cfg)):
        loss = model.loss(signal)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            print(f"step {step:2d} length {signal.shape[1]} loss {loss.item():.4f}")
    print("frequencies", [round(f, 3) for f in rotary.freqs.tolist()])


if __name__ == "__main__":
    main()
