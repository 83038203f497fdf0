"""Adapter tuning of a frozen character model, with activation checkpointing."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

from blocks import Decoder, adapters_only

TEXT = "the tide turns and the boats turn with the tide, and the rope turns on the post. " * 12


@dataclass
class Config:
    length: int = 24
    batch: int = 16
    steps: int = 40
    lr: float = 5e-3
    seed: int = 0
    checkpointing: dict = field(default_factory=lambda: {"use_reentrant": False})


class Corpus:
    def __init__(self, text, cfg):
        self.vocab = sorted(set(text))
        lookup = {ch: i for i, ch in enumerate(self.vocab)}
        self.ids = torch.tensor([lookup[ch] for ch in text])
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def batch(self):
        high = len(self.ids) - self.cfg.length - 1
        starts = torch.randint(0, high, (self.cfg.batch,), generator=self.gen)
        rows = torch.stack([self.ids[s:s + self.cfg.length + 1] for s in starts.tolist()])
        return rows[:, :-1], rows[:, 1:]


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    corpus = Corpus(TEXT, cfg)
    model = Decoder(len(corpus.vocab), max_len=cfg.length)
    params = adapters_only(model)
    model.enable_checkpointing(**cfg.checkpointing)
    print("training", sum(p.numel() for p in params), "of", sum(p.numel() for p in model.parameters()))

    optimizer = torch.optim.AdamW(params, lr=cfg.lr)
    model.train()
    for step in range(cfg.steps):
        tokens, targets = corpus.batch()
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0 or step == cfg.steps - 1:
            print(f"step {step:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
