"""Character language model on a small text, stateful over the batches of an epoch."""
import argparse
import csv
import math
import os

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


class CharLM(nn.Module):
    def __init__(self, n_chars, width=24, layers=2, p=0.1):
        super().__init__()
        self.layers, self.width = layers, width
        self.embed = nn.Embedding(n_chars, width)
        self.drop = nn.Dropout(p)
        self.rnn = nn.LSTM(width, width, layers, dropout=p)
        self.out = nn.Linear(width, n_chars)

    def init_hidden(self, bsz):
        w = next(self.parameters())
        return (w.new_zeros(self.layers, bsz, self.width),
                w.new_zeros(self.layers, bsz, self.width))

    def forward(self, x, hidden):
        y, hidden = self.rnn(self.drop(self.embed(x)), hidden)
        return self.out(self.drop(y)), hidden


def batchify(ids, bsz):
    n = len(ids) // bsz
    return ids[: n * bsz].view(bsz, n).t().contiguous()


def evaluate(model, data, bptt):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        hidden = model.init_hidden(data.size(1))
        for i in range(0, len(data) - 1, bptt):
            t = min(bptt, len(data) - 1 - i)
            logits, hidden = model(data[i:i + t], hidden)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), data[i + 1:i + 1 + t].flatten())
            total, n = total + t * loss.item(), n + t
    return total / n


def train_epoch(model, data, opt, args, writer, epoch):
    model.train()
    hidden = model.init_hidden(args.batch)
    for step, i in enumerate(range(0, len(data) - 1, args.bptt)):
        t = min(args.bptt, len(data) - 1 - i)
        x, y = data[i:i + t], data[i + 1:i + 1 + t].flatten()
        opt.zero_grad()
        hidden = tuple(h.detach() for h in hidden)
        logits, hidden = model(x, hidden)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        opt.step()
        writer.writerow([epoch, step, f"{loss.item():.4f}"])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default=os.path.join(HERE, "..", "data", "verse.txt"))
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch", type=int, default=4)
    ap.add_argument("--bptt", type=int, default=12)
    ap.add_argument("--clip", type=float, default=1.0)
    args = ap.parse_args()
    torch.manual_seed(1)
    text = open(args.data).read()
    chars = sorted(set(text))
    ids = torch.tensor([chars.index(c) for c in text])
    cut = int(0.8 * len(ids))
    train, valid = batchify(ids[:cut], args.batch), batchify(ids[cut:], 2)
    model = CharLM(len(chars))
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    os.makedirs(os.path.join(HERE, "out"), exist_ok=True)
    with open(os.path.join(HERE, "out", "log.csv"), "w", newline="") as f:
        writer = csv.writer(f)
        for epoch in range(args.epochs):
            train_epoch(model, train, opt, args, writer, epoch)
            ppl = math.exp(evaluate(model, valid, args.bptt))
            print(f"epoch {epoch}: valid ppl {ppl:.2f}")
    torch.save(model.state_dict(), os.path.join(HERE, "out", "charlm.pt"))


if __name__ == "__main__":
    main()
