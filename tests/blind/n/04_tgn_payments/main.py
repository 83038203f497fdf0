"""Dispute prediction on a payment stream with a temporal graph network.

Every node owns a memory vector which is rewritten at each of its events and lives
through the whole stream; it is wiped at the start of an epoch. As in the TGN paper
the parameters are updated after every batch, with that batch's gradient.
"""
import torch
import torch.nn.functional as F

from data import PaymentStream
from model import EdgeScorer, MemoryUpdater

torch.manual_seed(13)
MEM, EDGE = 16, 4


class NodeMemory:
    def __init__(self, n_nodes, dim):
        self.n_nodes, self.dim = n_nodes, dim
        self.wipe()

    def wipe(self):
        self.table = torch.zeros(self.n_nodes, self.dim)

    def read(self, nodes):
        return self.table[nodes]

    def write(self, nodes, values):
        self.table = self.table.index_copy(0, nodes, values)


class Trainer:
    def __init__(self, stream, lr=5e-3):
        self.stream = stream
        self.memory = NodeMemory(stream.n_nodes, MEM)
        self.updater = MemoryUpdater(MEM, EDGE)
        self.scorer = EdgeScorer(MEM, EDGE)
        params = list(self.updater.parameters()) + list(self.scorer.parameters())
        self.opt = torch.optim.Adam(params, lr=lr)

    def process(self, ev):
        """Update both endpoints' memories, then score the payment from them."""
        c, m = self.memory.read(ev.customer), self.memory.read(ev.merchant)
        new_c = self.updater(c, m, ev.feats)
        new_m = self.updater(m, c, ev.feats)
        logits = self.scorer(new_c, new_m, ev.feats)
        self.memory.write(ev.customer, new_c)
        self.memory.write(ev.merchant, new_m)
        return logits

    def epoch(self):
        self.memory.wipe()
        total, correct, seen = 0.0, 0, 0
        for ev in self.stream:
            logits = self.process(ev)
            loss = F.binary_cross_entropy_with_logits(logits, ev.disputed)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

            total += loss.item()
            correct += int(((logits > 0).float() == ev.disputed).sum())
            seen += len(ev.disputed)
        return total / len(self.stream), correct / seen


def main():
    trainer = Trainer(PaymentStream())
    for epoch in range(3):
        loss, acc = trainer.epoch()
        print(f"epoch {epoch}  loss {loss:.4f}  acc {acc:.3f}")


if __name__ == "__main__":
    main()
