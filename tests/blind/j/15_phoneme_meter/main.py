"""Frame-wise phoneme classifier for speech, trained utterance by utterance.

Each utterance gives one update from its own loss. The meter keeps the loss of the epoch so
that it can be reported.
"""
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn.functional as F
from torch import nn

PHONEMES = 6
MEL = 10


@dataclass
class Settings:
    epochs: int = 3
    utterances: int = 10
    lr: float = 4e-3
    context: int = 2


@dataclass
class EpochMeter:
    """Total loss and number of frames of one epoch."""
    loss: object = 0.0
    frames: int = 0
    curve: List[float] = field(default_factory=list)

    def update(self, loss, frames):
        self.loss = self.loss + loss
        self.frames += frames
        return self.loss

    def close(self):
        self.curve.append(float(self.loss) / max(self.frames, 1))
        self.loss, self.frames = 0.0, 0


class FrameClassifier(nn.Module):
    def __init__(self, context):
        super().__init__()
        self.conv = nn.Conv1d(MEL, 20, 2 * context + 1, padding=context)
        self.norm = nn.LayerNorm(20)
        self.out = nn.Linear(20, PHONEMES)

    def forward(self, mel):
        h = F.relu(self.conv(mel.T.unsqueeze(0))).squeeze(0).T
        return self.out(self.norm(h))


class Corpus:
    def __init__(self, size):
        self.colour = torch.randn(PHONEMES, MEL)
        self.items = [self._utterance() for _ in range(size)]

    def _utterance(self):
        pieces = torch.randint(0, PHONEMES, (5,))
        labels = pieces.repeat_interleave(torch.randint(3, 7, (5,)))
        return self.colour[labels] + 0.7 * torch.randn(len(labels), MEL), labels

    def __iter__(self):
        return iter(self.items)


class Recogniser:
    def __init__(self, settings):
        self.settings = settings
        self.model = FrameClassifier(settings.context)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.lr)
        self.meter = EpochMeter()

    def learn(self, mel, labels):
        loss = F.cross_entropy(self.model(mel), labels, reduction="sum")
        objective = self.meter.update(loss, len(labels))
        self.optimizer.zero_grad()
        objective.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 50.0)
        self.optimizer.step()

    def fit(self, corpus):
        for epoch in range(self.settings.epochs):
            for mel, labels in corpus:
                self.learn(mel, labels)
            self.meter.close()
            print("epoch", epoch, "loss per frame", round(self.meter.curve[-1], 4))


def main():
    torch.manual_seed(15)
    settings = Settings()
    corpus = Corpus(settings.utterances)
    Recogniser(settings).fit(corpus)


if __name__ == "__main__":
    main()
