"""Speech-like tagging: utterances cut into segments, learned initial state."""
import argparse
import json

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, d=4, width=12, tags=3):
        super().__init__()
        self.h0 = nn.Parameter(0.1 * torch.randn(1, 1, width))
        self.rnn = nn.GRU(d, width, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(width, tags)

    def forward(self, x, h):
        y, h = self.rnn(x, h)
        return self.out(self.drop(y)), h


def utterances(n, batch=3, length=18):
    """Tag: is the running sum low, middle or high?"""
    for _ in range(n):
        x = torch.randn(batch, length, 4)
        s = x[..., 0].cumsum(1)
        yield x, (s > -0.7).long() + (s > 0.7).long()


def segments(x, y, size):
    for k in range(0, x.size(1), size):
        yield {"start": k == 0, "x": x[:, k:k + size], "y": y[:, k:k + size]}


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--segment", type=int, default=6)
    ap.add_argument("--utterances", type=int, default=14)
    ap.add_argument("--lr", type=float, default=0.02)
    args = ap.parse_args(argv)
    torch.manual_seed(10)
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    log = []
    hidden = None
    for n, (x, y) in enumerate(utterances(args.utterances)):
        total = 0.0
        for batch in segments(x, y, args.segment):
            if batch["start"]:
                state = model.h0.expand(-1, x.size(0), -1).contiguous()
            else:
                state = hidden.detach()
            logits, hidden = model(batch["x"], state)
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), batch["y"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        log.append({"utt": n, "loss": round(total / 3, 4), "h0": round(model.h0.norm().item(), 4)})
    for row in log:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
