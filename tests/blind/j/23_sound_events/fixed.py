"""Sound event detection: where in a clip does something happen, and what is it?

Clips come one by one. A clip without an annotated event gives no loss, so it is passed over:
it neither trains the network nor counts in the report.
"""
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import nn

BANDS = 8
FRAMES = 20
KINDS = 3


@dataclass
class Clip:
    spectrum: torch.Tensor          # bands x frames
    onsets: torch.Tensor            # frame index of each event
    kinds: torch.Tensor             # class of each event


@dataclass
class Config:
    clips: int = 24
    epochs: int = 2
    width: int = 16
    lr: float = 4e-3
    onset_weight: float = 2.0
    clip_norm: Optional[float] = 5.0


class Annotated:
    """Synthetic annotated recordings; about one in five is silent."""

    def __init__(self, cfg):
        self.timbre = torch.randn(KINDS, BANDS) * 2
        self.clips = [self.make(i) for i in range(cfg.clips)]

    def make(self, index):
        spectrum = 0.3 * torch.randn(BANDS, FRAMES)
        count = 0 if index % 5 == 3 else 1 + index % 2
        onsets = torch.randperm(FRAMES - 3)[:count]
        kinds = torch.randint(0, KINDS, (count,))
        for onset, kind in zip(onsets.tolist(), kinds.tolist()):
            spectrum[:, onset:onset + 3] += self.timbre[kind].unsqueeze(1)
        return Clip(spectrum, onsets, kinds)

    def __iter__(self):
        return iter(self.clips)


class Detector(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.GRU(BANDS, width, batch_first=True, bidirectional=True)
        self.onset = nn.Linear(2 * width, 1)
        self.kind = nn.Linear(2 * width, KINDS)

    def forward(self, spectrum):
        h, _ = self.encoder(spectrum.T.unsqueeze(0))
        h = h.squeeze(0)
        return self.onset(h).squeeze(-1), self.kind(h)


class EventLoss:
    def __init__(self, onset_weight):
        self.onset_weight = onset_weight

    def __call__(self, onset_logits, kind_logits, clip):
        truth = torch.zeros(FRAMES)
        truth[clip.onsets] = 1.0
        when = F.binary_cross_entropy_with_logits(onset_logits, truth)
        what = F.cross_entropy(kind_logits[clip.onsets], clip.kinds)
        return self.onset_weight * when + what


class Report:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def __str__(self):
        return f"{len(self.values)} clips, mean loss {sum(self.values) / len(self.values):.4f}"


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Detector(cfg.width)
        self.criterion = EventLoss(cfg.onset_weight)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.loss = None

    def evaluate(self, clip, report):
        if clip.onsets.numel() > 0:
            onset_logits, kind_logits = self.model(clip.spectrum)
            self.loss = self.criterion(onset_logits, kind_logits, clip)
            report.add(self.loss.item())
            return True
        return False

    def update(self):
        self.optimizer.zero_grad()
        self.loss.backward()
        if self.cfg.clip_norm:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip_norm)
        self.optimizer.step()

    def fit(self, data):
        for epoch in range(self.cfg.epochs):
            report = Report()
            for clip in data:
                if self.evaluate(clip, report):
                    self.update()
            print("epoch", epoch, report)


def main():
    torch.manual_seed(23)
    cfg = Config()
    data = Annotated(cfg)
    Trainer(cfg).fit(data)


if __name__ == "__main__":
    main()
