"""Predict the next interactions of a message network from per-user memories."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import NodeMemory


@dataclass
class Settings:
    nodes: int = 40
    events: int = 480
    batch: int = 48
    dim: int = 24
    feat: int = 4
    epochs: int = 6
    lr: float = 1e-2
    seed: int = 9


def simulate_events(cfg):
    """Users of one club mostly write to each other; the text features carry the club."""
    g = torch.Generator().manual_seed(cfg.seed)
    club = torch.arange(cfg.nodes) % 4
    src = torch.randint(cfg.nodes, (cfg.events,), generator=g)
    dst = torch.empty_like(src)
    for i, s in enumerate(src.tolist()):
        same = torch.nonzero(club == club[s]).flatten()
        pool = same if torch.rand((), generator=g) < 0.95 else torch.arange(cfg.nodes)
        dst[i] = pool[torch.randint(len(pool), (), generator=g)]
    feat = F.one_hot(club[src], 4).float() + 0.2 * torch.randn(cfg.events, cfg.feat, generator=g)
    t = torch.rand(cfg.events, generator=g).cumsum(0)
    return src, dst, feat, t


class LinkScorer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.left, self.right = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, a, b):
        return (self.left(a) * self.right(b)).sum(-1) + self.bias


class LinkTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.memory = NodeMemory(cfg.nodes, cfg.dim, cfg.feat, time_dim=8)
        self.scorer = LinkScorer(cfg.dim)
        params = list(self.memory.parameters()) + list(self.scorer.parameters())
        self.optimizer = torch.optim.Adam(params, lr=cfg.lr)

    def batches(self, events):
        chunks = list(zip(*(x.split(self.cfg.batch) for x in events)))
        for seen, ahead in zip(chunks[:-1], chunks[1:]):
            yield seen, ahead

    def link_loss(self, state, ahead, gen):
        src, dst = ahead[0], ahead[1]
        fake = torch.randint(self.cfg.nodes, dst.shape, generator=gen)
        pos = self.scorer(state[src], state[dst])
        neg = self.scorer(state[src], state[fake])
        scores = torch.cat([pos, neg])
        target = torch.cat([torch.ones_like(pos), torch.zeros_like(neg)])
        acc = ((scores > 0).float() == target).float().mean().item()
        return F.binary_cross_entropy_with_logits(scores, target), acc

    def run_epoch(self, events, gen):
        self.memory.reset()
        losses, accs = [], []
        for seen, ahead in self.batches(events):
            self.optimizer.zero_grad()
            state = self.memory.update(*seen)
            loss, acc = self.link_loss(state, ahead, gen)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            accs.append(acc)
        return sum(losses) / len(losses), sum(accs) / len(accs)


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    events = simulate_events(cfg)
    trainer = LinkTrainer(cfg)
    gen = torch.Generator().manual_seed(0)
    for epoch in range(cfg.epochs):
        loss, acc = trainer.run_epoch(events, gen)
        print(f"epoch {epoch + 1}  link loss {loss:.4f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
