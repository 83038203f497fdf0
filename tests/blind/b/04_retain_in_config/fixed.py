"""Sequence tagger with a small training harness."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainConfig:
    lr: float = 3e-3
    epochs: int = 3
    clip: float = 1.0
    retain_graph: bool = False
    label_smoothing: float = 0.05


class Tagger(nn.Module):
    def __init__(self, vocab=20, width=12, tags=5):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, tags)

    def forward(self, tokens):
        h, _ = self.rnn(self.emb(tokens))
        return self.out(h)


class Harness:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=cfg.label_smoothing)

    def backward(self, loss):
        loss.backward(retain_graph=self.cfg.retain_graph)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)

    def fit(self, data):
        for epoch in range(self.cfg.epochs):
            total = 0.0
            for tokens, tags in data:
                self.opt.zero_grad()
                logits = self.model(tokens)
                loss = self.criterion(logits.flatten(0, 1), tags.flatten())
                self.backward(loss)
                self.opt.step()
                total += loss.item()
            print(f"epoch {epoch}: loss {total / len(data):.4f}")


def main():
    torch.manual_seed(4)
    data = []
    for _ in range(5):
        tokens = torch.randint(0, 20, (4, 7))
        data.append((tokens, tokens % 5))
    Harness(Tagger(), TrainConfig()).fit(data)


if __name__ == "__main__":
    main()
