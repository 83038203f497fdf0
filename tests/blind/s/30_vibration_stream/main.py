"""Predict the next samples of a machine's vibration, chunk after chunk of one long recording.

The recurrent state runs on across chunks; the optimizer steps once every `accumulate` chunks.
"""
import argparse
import math

import torch
from torch import nn


def recording(channels, samples, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(samples) / 50.0
    base = torch.rand(channels, 1, generator=g) * 1.5 + 0.5
    phase = torch.rand(channels, 1, generator=g) * 2 * math.pi
    wave = torch.sin(2 * math.pi * base * t + phase) + 0.4 * torch.sin(4 * math.pi * base * t)
    return wave + 0.05 * torch.randn(channels, samples, generator=g)


class Predictor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state):
        h, state = self.rnn(x, state)
        return self.out(h), state


def chunks(wave, length):
    for start in range(0, wave.shape[1] - length, length):
        piece = wave[:, start:start + length + 1].unsqueeze(-1)
        yield piece[:, :-1], piece[:, 1:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, default=24)
    ap.add_argument("--length", type=int, default=25)
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()

    torch.manual_seed(6)
    wave = recording(8, 601, seed=6)
    model = Predictor(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()

    for epoch in range(args.epochs):
        state, total, count = None, 0.0, 0
        optimizer.zero_grad()
        for x, y in chunks(wave, args.length):
            if state is not None:
                state = state.detach()
            pred, state = model(x, state)
            loss = criterion(pred, y)
            (loss / args.accumulate).backward()
            total += loss.item()
            count += 1
            if count % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}  chunks {count}  loss {total / count:.4f}")


if __name__ == "__main__":
    main()
