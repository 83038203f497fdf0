"""Who will talk to whom next? Link prediction on a stream of interactions.

The stream is read in order, batch by batch; each batch gives one update. The memory of the
nodes goes on from batch to batch and starts empty in every epoch.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from tgn_fixed import TemporalGraphNetwork

NODES = 20


@dataclass
class Config:
    epochs: int = 3
    batch: int = 15
    events: int = 180
    lr: float = 5e-3


class Interactions:
    """People talk mostly inside their own group, and tend to answer."""

    def __init__(self, cfg):
        self.cfg = cfg
        group = torch.arange(NODES) % 4
        src, dst = [], []
        for i in range(cfg.events):
            if i and torch.rand(()) < 0.3:
                s, d = dst[-1], src[-1]
            else:
                s = torch.randint(0, NODES, ()).item()
                friends = [n for n in range(NODES) if group[n] == group[s] and n != s]
                d = friends[torch.randint(0, len(friends), ()).item()]
            src.append(s)
            dst.append(d)
        self.src, self.dst = torch.tensor(src), torch.tensor(dst)
        self.features = torch.randn(cfg.events, 3)

    def batches(self):
        for start in range(0, self.cfg.events, self.cfg.batch):
            rows = slice(start, start + self.cfg.batch)
            negative = torch.randint(0, NODES, self.src[rows].shape)
            yield self.src[rows], self.dst[rows], negative, self.features[rows]


class LinkTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = TemporalGraphNetwork(NODES)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def update(self, batch):
        positive, wrong = self.model(*batch)
        scores = torch.cat([positive, wrong])
        truth = torch.cat([torch.ones_like(positive), torch.zeros_like(wrong)])
        loss = F.binary_cross_entropy_with_logits(scores, truth)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.model.memory.detach()
        return loss.item()

    def epoch(self, interactions):
        self.model.memory.reset()
        losses = [self.update(batch) for batch in interactions.batches()]
        return sum(losses) / len(losses)


def main():
    torch.manual_seed(25)
    cfg = Config()
    interactions = Interactions(cfg)
    trainer = LinkTrainer(cfg)
    for epoch in range(cfg.epochs):
        print("epoch", epoch, "loss", round(trainer.epoch(interactions), 4))


if __name__ == "__main__":
    main()
