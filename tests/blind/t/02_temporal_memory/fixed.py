"""Link prediction on a stream of interactions with a per-node memory."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import NodeMemory


@dataclass
class Config:
    n_users: int = 20
    n_items: int = 15
    n_events: int = 600
    batch: int = 50
    dim: int = 16
    epochs: int = 3
    lr: float = 3e-3
    seed: int = 11


def make_events(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    taste = torch.randint(0, 3, (cfg.n_users,), generator=g)
    src = torch.randint(0, cfg.n_users, (cfg.n_events,), generator=g)
    per_group = cfg.n_items // 3
    item = taste[src] * per_group + torch.randint(0, per_group, (cfg.n_events,), generator=g)
    dst = cfg.n_users + item
    feats = torch.randn(cfg.n_events, 4, generator=g) + taste[src].unsqueeze(1).float()
    return src, dst, feats


class TemporalLinkModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.memory = NodeMemory(cfg.n_users + cfg.n_items, cfg.dim, msg_dim=2 * cfg.dim + 4)
        self.embed = nn.Embedding(cfg.n_users + cfg.n_items, cfg.dim)
        self.scorer = nn.Sequential(nn.Linear(4 * cfg.dim, cfg.dim), nn.ReLU(), nn.Linear(cfg.dim, 1))

    def node_state(self, ids):
        return torch.cat([self.memory.get(ids), self.embed(ids)], dim=1)

    def score(self, src, dst):
        pair = torch.cat([self.node_state(src), self.node_state(dst)], dim=1)
        return self.scorer(pair).squeeze(1)

    def absorb(self, src, dst, feats):
        a, b = self.memory.get(src), self.memory.get(dst)
        self.memory.update(src, torch.cat([a, b, feats], dim=1))
        self.memory.update(dst, torch.cat([b, a, feats], dim=1))


class StreamTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.model = TemporalLinkModel(cfg)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def batches(self, events):
        src, dst, feats = events
        for start in range(0, len(src), self.cfg.batch):
            window = slice(start, start + self.cfg.batch)
            yield src[window], dst[window], feats[window]

    def train_batch(self, src, dst, feats, previous):
        self.opt.zero_grad()
        if previous is not None:
            self.model.absorb(*previous)
        negatives = torch.randint(self.cfg.n_users, self.cfg.n_users + self.cfg.n_items, dst.shape)
        logits = torch.cat([self.model.score(src, dst), self.model.score(src, negatives)])
        labels = torch.cat([torch.ones(len(src)), torch.zeros(len(src))])
        loss = F.binary_cross_entropy_with_logits(logits, labels)
        loss.backward()
        self.opt.step()
        self.model.memory.detach()
        return loss.item()

    def fit(self, events):
        for epoch in range(self.cfg.epochs):
            self.model.memory.reset()
            previous, total, count = None, 0.0, 0
            for batch in self.batches(events):
                total += self.train_batch(*batch, previous)
                count += 1
                previous = batch
            print(f"epoch {epoch} | loss {total / count:.4f} | {self.model.memory.summary()}")


if __name__ == "__main__":
    config = Config()
    StreamTrainer(config).fit(make_events(config))
