"""Link prediction on a stream of trades between firms.

The stream is read in time order, batch by batch.  Before a batch is scored the
messages of the previous batch are written into the node memory, so that the
message function and the memory updater learn from the batch being scored.
The memory itself lives for a whole pass over the stream.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import NodeMemory

CFG = dict(n_firms=40, dim=16, feat_dim=6, n_events=600, batch=50, epochs=3, lr=3e-3, seed=11)


def make_stream(cfg):
    g = torch.Generator().manual_seed(cfg["seed"])
    group = torch.randint(0, 4, (cfg["n_firms"],), generator=g)
    src, dst = [], []
    while len(src) < cfg["n_events"]:
        a, b = torch.randint(0, cfg["n_firms"], (2,), generator=g).tolist()
        likely = group[b] == (group[a] + 1) % 4
        if a != b and (likely or torch.rand(1, generator=g).item() < 0.08):
            src.append(a)
            dst.append(b)
    src, dst = torch.tensor(src), torch.tensor(dst)
    onehot = F.one_hot(group, 4).float()
    feat = torch.cat([onehot[src], torch.randn(len(src), 2, generator=g)], dim=1)
    return src, dst, feat


class LinkScorer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.static = nn.Embedding(cfg["n_firms"], cfg["dim"])
        self.head = nn.Sequential(
            nn.Linear(4 * cfg["dim"], 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, state, a, b):
        left = torch.cat([state[a], self.static(a)], dim=1)
        right = torch.cat([state[b], self.static(b)], dim=1)
        return self.head(torch.cat([left, right], dim=1)).squeeze(1)


class StreamTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.memory = NodeMemory(cfg["n_firms"], cfg["dim"], cfg["feat_dim"])
        self.scorer = LinkScorer(cfg)
        params = list(self.memory.parameters()) + list(self.scorer.parameters())
        self.optimizer = torch.optim.Adam(params, lr=cfg["lr"])

    def score_batch(self, src, dst):
        fake = torch.randint(0, self.cfg["n_firms"], dst.shape)
        pos = self.scorer(self.memory.state, src, dst)
        neg = self.scorer(self.memory.state, src, fake)
        logits = torch.cat([pos, neg])
        target = torch.cat([torch.ones_like(pos), torch.zeros_like(neg)])
        return F.binary_cross_entropy_with_logits(logits, target)

    def run_epoch(self, stream):
        src, dst, feat = stream
        self.memory.reset()
        total, count = 0.0, 0
        for start in range(0, len(src), self.cfg["batch"]):
            part = slice(start, start + self.cfg["batch"])
            self.memory.flush()
            loss = self.score_batch(src[part], dst[part])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.memory.enqueue(src[part], dst[part], feat[part])
            total += loss.item()
            count += 1
        return total / count


def main():
    torch.manual_seed(CFG["seed"])
    stream = make_stream(CFG)
    trainer = StreamTrainer(CFG)
    for epoch in range(CFG["epochs"]):
        print(f"epoch {epoch}  loss {trainer.run_epoch(stream):.4f}")


if __name__ == "__main__":
    main()
