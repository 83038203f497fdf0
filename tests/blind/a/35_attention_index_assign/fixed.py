"""Attention pooling over sentences of different length."""
import argparse

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class AttentionPool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, h, pad):
        weights = torch.softmax(self.score(h).squeeze(-1), dim=1)
        weights = weights.masked_fill(pad, 0.0)
        weights = weights / weights.sum(dim=1, keepdim=True)
        return torch.einsum("bn,bnd->bd", weights, h), weights


class Sentiment(nn.Module):
    def __init__(self, vocab=20, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.enc = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
        self.pool = AttentionPool(width)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(width, 1)

    def forward(self, tokens):
        h, _ = self.enc(self.embed(tokens))
        pooled, weights = self.pool(h, tokens == 0)
        return self.out(self.drop(pooled)).squeeze(1), weights


def sentences(n=40):
    g = torch.Generator().manual_seed(350)
    rows = []
    for i in range(n):
        length = int(torch.randint(3, 9, (1,), generator=g))
        s = torch.randint(3, 20, (length,), generator=g)
        s[int(torch.randint(0, length, (1,), generator=g))] = 1 + i % 2
        rows.append((s, float(i % 2)))
    return rows


def collate(rows):
    return {"tokens": pad_sequence([s for s, _ in rows], batch_first=True),
            "label": torch.tensor([y for _, y in rows])}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(35)
    loader = DataLoader(sentences(), batch_size=8, shuffle=True, collate_fn=collate)
    model = Sentiment()
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(args.epochs):
        total, entropy = 0.0, 0.0
        for batch in loader:
            logits, weights = model(batch["tokens"])
            loss = nn.functional.binary_cross_entropy_with_logits(logits, batch["label"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            entropy += -(weights * (weights + 1e-9).log()).sum(1).mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} entropy {entropy / len(loader):.3f}")


if __name__ == "__main__":
    main()
