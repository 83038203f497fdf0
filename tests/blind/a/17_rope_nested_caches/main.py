"""Induction task with rotary positions whose frequencies are learned."""
import argparse

import torch
from torch import nn

from rope import Rotary


class Attention(nn.Module):
    def __init__(self, width, max_len):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.rotary = Rotary(width)
        self.register_buffer("causal", torch.ones(max_len, max_len).triu(1).bool())

    def forward(self, x):
        n = x.size(1)
        q, k = self.rotary(self.q(x)), self.rotary(self.k(x))
        scores = q @ k.transpose(1, 2) / x.size(-1) ** 0.5
        weights = scores.masked_fill(self.causal[:n, :n], float("-inf")).softmax(-1)
        return self.out(weights @ self.v(x))


class Model(nn.Module):
    def __init__(self, vocab=6, width=16, max_len=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Attention(width, max_len) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(self.norm(x))


def periodic(gen, length, batch=8, vocab=6, period=4):
    unit = torch.randint(0, vocab, (batch, period), generator=gen)
    seq = unit.repeat(1, length // period + 2)[:, : length + 1]
    return seq[:, :-1], seq[:, 1:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=32)
    ap.add_argument("--lr", type=float, default=0.01)
    args = ap.parse_args()
    torch.manual_seed(17)
    gen = torch.Generator().manual_seed(171)
    model = Model()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    window = []
    for step in range(args.steps):
        x, y = periodic(gen, length=(8, 12, 16)[step % 3])
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        window.append(loss.item())
        if (step + 1) % 8 == 0:
            print(f"step {step + 1}: loss {sum(window[-8:]) / 8:.4f}")


if __name__ == "__main__":
    main()
