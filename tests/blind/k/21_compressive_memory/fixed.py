"""Long-range character model with a compressive memory, read segment by segment."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from model_fixed import CompressiveLM


@dataclass
class Hparams:
    vocab: int = 13
    segment: int = 8
    batch: int = 4
    segments_per_book: int = 6
    books: int = 5
    lr: float = 1e-2
    aux_weight: float = 0.5
    seed: int = 43


class Books:
    """Texts that repeat one of a few motifs, with misprints."""

    def __init__(self, hp):
        self.hp = hp
        self.motifs = torch.randint(0, hp.vocab, (3, 12))

    def book(self):
        hp = self.hp
        length = hp.segment * hp.segments_per_book + 1
        motif = self.motifs[torch.randint(0, 3, (hp.batch,))]
        text = motif.repeat(1, length // 12 + 1)[:, :length]
        noise = torch.rand(hp.batch, length) < 0.1
        return torch.where(noise, torch.randint(0, hp.vocab, text.shape), text)

    def segments(self):
        text = self.book()
        for s in range(0, text.size(1) - 1, self.hp.segment):
            piece = text[:, s:s + self.hp.segment + 1]
            yield piece[:, :-1], piece[:, 1:]


class Meter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, value):
        self.total += value
        self.n += 1

    @property
    def mean(self):
        return self.total / max(self.n, 1)


class Trainer:
    def __init__(self, hp):
        torch.manual_seed(hp.seed)
        self.hp = hp
        self.books = Books(hp)
        self.model = CompressiveLM(hp.vocab)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=hp.lr)

    def train_segment(self, tokens, targets):
        logits, aux = self.model(tokens)
        nll = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss = nll + self.hp.aux_weight * aux
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return nll.item(), aux.item()

    def fit(self):
        for b in range(self.hp.books):
            self.model.reset_memory()
            nll_meter, aux_meter = Meter(), Meter()
            for tokens, targets in self.books.segments():
                nll, aux = self.train_segment(tokens, targets)
                nll_meter.add(nll)
                aux_meter.add(aux)
            print(f"book {b} nll {nll_meter.mean:.4f} reconstruction {aux_meter.mean:.4f}")


if __name__ == "__main__":
    Trainer(Hparams()).fit()
