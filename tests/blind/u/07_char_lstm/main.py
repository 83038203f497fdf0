"""Character language model: LSTM, state carried from window to window of the text."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

LINES = [
    "the cat sat on the mat and looked at the rain. ",
    "the rain fell on the roof and the cat slept. ",
    "a dog ran past the roof and barked at the cat. ",
    "the mat was wet and the dog was happy. ",
]


class Corpus:
    def __init__(self, repeats, n_streams):
        text = "".join(LINES[(i * i) % len(LINES)] for i in range(repeats))
        self.chars = sorted(set(text))
        ids = torch.tensor([self.chars.index(c) for c in text])
        per = len(ids) // n_streams
        self.streams = ids[: per * n_streams].view(n_streams, per)

    def windows(self, length):
        for start in range(0, self.streams.size(1) - 1, length):
            chunk = self.streams[:, start:start + length + 1]
            if chunk.size(1) > 1:
                yield chunk[:, :-1], chunk[:, 1:]


class CharLM(nn.Module):
    def __init__(self, vocab, emb=16, hidden=64, layers=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, state=None):
        y, state = self.lstm(self.emb(ids), state)
        return self.out(y), state


def cut(state):
    """Keep the numbers of the state for the next window, truncate the history."""
    h, c = state
    h = h.detach()
    return h, c


def train_epoch(model, corpus, optimizer, args):
    model.train()
    total, tokens, state = 0.0, 0, None
    for x, y in corpus.windows(args.window):
        if state is not None:
            state = cut(state)
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * y.numel()
        tokens += y.numel()
    return total / tokens


@torch.no_grad()
def sample(model, corpus, prompt, n):
    model.eval()
    ids, state = [corpus.chars.index(c) for c in prompt], None
    inp = torch.tensor([ids])
    for _ in range(n):
        logits, state = model(inp, state)
        nxt = logits[0, -1].argmax().item()
        ids.append(nxt)
        inp = torch.tensor([[nxt]])
    return "".join(corpus.chars[i] for i in ids)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--window", type=int, default=20)
    ap.add_argument("--streams", type=int, default=8)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()
    torch.manual_seed(1)
    corpus = Corpus(repeats=40, n_streams=args.streams)
    model = CharLM(len(corpus.chars))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train_epoch(model, corpus, optimizer, args)
        print(f"epoch {epoch} loss {loss:.3f} ppl {math.exp(loss):.2f}")
    print(repr(sample(model, corpus, "the ", 30)))
