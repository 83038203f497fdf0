"""Link prediction on a stream of customer/shop visits with per-node memory.

The stream is read in batches, in time order. A batch first writes the visits of
the batch before it into the memories (so that the updater learns from the
predictions of this batch) and then scores its own visits against random shops.
One optimizer step learns from one batch.
"""
import argparse

import torch
import torch.nn.functional as F

from model import LinkScorer, MemoryUpdater

CUSTOMERS, SHOPS, FEAT = 40, 15, 4


def make_stream(n_events, generator):
    taste = torch.randint(0, SHOPS, (CUSTOMERS,), generator=generator)
    src = torch.randint(0, CUSTOMERS, (n_events,), generator=generator)
    explore = torch.rand(n_events, generator=generator) < 0.2
    dst = torch.where(explore,
                      torch.randint(0, SHOPS, (n_events,), generator=generator),
                      taste[src]) + CUSTOMERS
    feat = torch.randn(n_events, FEAT, generator=generator)
    dt = torch.rand(n_events, generator=generator)
    return src, dst, feat, dt


def batches(stream, size):
    n = len(stream[0])
    for start in range(0, n, size):
        yield tuple(column[start:start + size] for column in stream)


def train_epoch(updater, scorer, optimizer, stream, batch_size):
    memory = updater.empty()
    previous = None
    total, steps = 0.0, 0
    for events in batches(stream, batch_size):
        if previous is not None:
            memory = updater(memory, previous)

        src, dst, _, _ = events
        negative = torch.randint(CUSTOMERS, CUSTOMERS + SHOPS, dst.shape)
        pos = scorer(memory, src, dst)
        neg = scorer(memory, src, negative)
        loss = (F.binary_cross_entropy_with_logits(pos, torch.ones_like(pos))
                + F.binary_cross_entropy_with_logits(neg, torch.zeros_like(neg)))

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        previous = events
        total += loss.item()
        steps += 1
    return total / steps, memory


@torch.no_grad()
def hit_rate(scorer, memory, stream, n=100):
    src, dst = stream[0][-n:], stream[1][-n:]
    shops = torch.arange(CUSTOMERS, CUSTOMERS + SHOPS)
    scores = torch.stack([scorer(memory, s.expand(SHOPS), shops) for s in src])
    return (shops[scores.argmax(1)] == dst).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    torch.manual_seed(5)
    stream = make_stream(1000, torch.Generator().manual_seed(5))
    updater = MemoryUpdater(CUSTOMERS + SHOPS)
    scorer = LinkScorer()
    optimizer = torch.optim.Adam(
        list(updater.parameters()) + list(scorer.parameters()), lr=args.lr)

    for epoch in range(args.epochs):
        loss, memory = train_epoch(updater, scorer, optimizer, stream, args.batch_size)
        print(f"epoch {epoch}  loss {loss:.4f}  hit@1 {hit_rate(scorer, memory, stream):.3f}")


if __name__ == "__main__":
    main()
