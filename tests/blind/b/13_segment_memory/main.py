"""Train on long documents, segment by segment, with one update per document."""
import math
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from model import ModelConfig, SegmentLM


@dataclass
class TrainConfig:
    documents: int = 8
    batch: int = 2
    segments: int = 4
    lr: float = 5e-3
    warmup: int = 2


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._warmup)

    def _warmup(self, step):
        return min(1.0, (step + 1) / self.cfg.warmup)

    def document(self):
        length = self.cfg.segments * self.model.cfg.segment + 1
        start = torch.randint(0, self.model.cfg.vocab, (self.cfg.batch, 1))
        stride = torch.randint(1, 4, (self.cfg.batch, 1))
        return (start + stride * torch.arange(length)) % self.model.cfg.vocab

    def training_step(self, document):
        inputs = document[:, :-1].split(self.model.cfg.segment, dim=1)
        targets = document[:, 1:].split(self.model.cfg.segment, dim=1)
        memory, norm = self.model.initial_memory(document.shape[0])
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for tokens, target in zip(inputs, targets):
            logits, memory, norm = self.model(tokens, memory, norm)
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
            loss = loss / len(inputs)
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.scheduler.step()
        return total

    def fit(self):
        for step in range(self.cfg.documents):
            loss = self.training_step(self.document())
            print(f"document {step}: loss {loss:.4f} ppl {math.exp(loss):.2f}")


def main():
    torch.manual_seed(13)
    Trainer(SegmentLM(ModelConfig()), TrainConfig()).fit()


if __name__ == "__main__":
    main()
