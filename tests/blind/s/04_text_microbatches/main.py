"""Bag-of-tokens intent classifier trained in micro-batches, with an averaged copy for evaluation."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--micro", type=int, default=16)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--decay", type=float, default=0.8)
    return p.parse_args()


def make_corpus(n, vocab=120, length=12, intents=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(intents, (n,), generator=g)
    topic = labels.unsqueeze(1) * 20 + torch.randint(20, (n, length), generator=g)
    noise = torch.randint(vocab, (n, length), generator=g)
    keep = torch.rand(n, length, generator=g) < 0.5
    return torch.where(keep, topic, noise), labels


class IntentNet(nn.Module):
    def __init__(self, vocab=120, dim=24, intents=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Linear(dim, 1)
        self.out = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, intents))

    def forward(self, tokens):
        e = self.embed(tokens)
        w = torch.softmax(self.score(e), dim=1)
        return self.out((w * e).sum(dim=1))


class AveragedModel:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)


def micro_batches(tokens, labels, size):
    order = torch.randperm(len(tokens))
    chunks = order.split(size)
    for i, idx in enumerate(chunks):
        yield i, len(chunks), tokens[idx], labels[idx]


def accuracy(model, tokens, labels):
    with torch.no_grad():
        return (model(tokens).argmax(1) == labels).float().mean().item()


def main():
    args = get_args()
    torch.manual_seed(5)
    train_x, train_y = make_corpus(400, seed=1)
    test_x, test_y = make_corpus(200, seed=2)
    model = IntentNet()
    ema = AveragedModel(model, args.decay)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    window = args.micro * args.accumulate

    for epoch in range(args.epochs):
        opt.zero_grad()
        total, updates = 0.0, 0
        for i, last, x, y in micro_batches(train_x, train_y, args.micro):
            start = (i // args.accumulate) * window
            size = min(window, len(train_x) - start)
            loss = F.cross_entropy(model(x), y, reduction="sum") / size
            loss.backward()
            total += loss.item() * size
            if (i + 1) % args.accumulate == 0 or i + 1 == last:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
                ema.update(model)
                updates += 1
        print(f"epoch {epoch + 1}  updates {updates}  loss {total / len(train_x):.4f}  "
              f"acc {accuracy(model, test_x, test_y):.3f}  "
              f"ema acc {accuracy(ema.shadow, test_x, test_y):.3f}")


if __name__ == "__main__":
    main()
