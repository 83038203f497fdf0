"""Character model trained with truncated back-propagation through time.

The text is cut into chunks. The state of the LSTM runs on over all chunks of a pass, the
gradient runs over one chunk only. The mean size of the cell is kept for a picture of the memory.
"""
import torch
import torch.nn.functional as F
from torch import nn

TEXT = "a quick brown fox jumps over the lazy dog while the lazy dog dreams of a quick fox. " * 6
CHUNK = 12


class CharModel(nn.Module):
    def __init__(self, vocab, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.rnn = nn.LSTM(12, width, batch_first=True)
        self.out = nn.Linear(width, vocab)
        self.state = None

    def start(self):
        self.state = None

    def forward(self, chunk):
        h, state = self.rnn(self.embed(chunk), self.state)
        self.state = tuple(s.detach() for s in state)
        return self.out(h)


class MemoryTrace:
    """Cell contents after each chunk, for plotting."""

    def __init__(self):
        self.rows = []

    def __call__(self, model, loss):
        self.rows.append(model.state[1].flatten().abs().mean())


class LossCurve:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def __call__(self, model, loss):
        self.total += loss.detach()
        self.count += 1

    def mean(self):
        return (self.total / self.count).item()


def encode(text):
    letters = sorted(set(text))
    return torch.tensor([letters.index(c) for c in text]), letters


def chunks(ids, rows=4):
    """(input, target) chunks of `rows` parallel streams."""
    length = len(ids) // rows
    streams = ids[:length * rows].view(rows, length)
    for start in range(0, length - CHUNK - 1, CHUNK):
        yield streams[:, start:start + CHUNK], streams[:, start + 1:start + CHUNK + 1]


def train(model, optimizer, ids, passes, callbacks):
    for _ in range(passes):
        model.start()
        for x, y in chunks(ids):
            logits = model(x)
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            for callback in callbacks:
                callback(model, loss)


def main():
    torch.manual_seed(19)
    ids, letters = encode(TEXT)
    model = CharModel(len(letters))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    trace, curve = MemoryTrace(), LossCurve()
    train(model, optimizer, ids, passes=5, callbacks=[trace, curve])
    print("mean loss", round(curve.mean(), 4))
    print("memory", [round(v, 3) for v in torch.stack(trace.rows)[::8].tolist()])


if __name__ == "__main__":
    main()
