"""Character model on one long stream: chunks in order, the GRU's memory carried along,
gradients of two chunks summed for every update."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

VERSE = (
    "the miller ground the winter wheat and sang along the way, "
    "the river turned the heavy wheel and ground the wheat to-day. "
)


class StreamModel(nn.Module):
    def __init__(self, vocab, embed=16, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, embed)
        self.gru = nn.GRU(embed, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, ids, memory):
        h, memory = self.gru(self.embed(ids), memory)
        return self.out(h), memory


def streams(text, batch):
    chars = sorted(set(text))
    ids = torch.tensor([chars.index(c) for c in text])
    per_row = len(ids) // batch
    return ids[:per_row * batch].view(batch, per_row), len(chars)


def chunks(rows, length):
    for start in range(0, rows.shape[1] - length, length):
        yield rows[:, start:start + length], rows[:, start + 1:start + length + 1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--chunk", type=int, default=20)
    parser.add_argument("--accumulate", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(0)
    rows, vocab = streams(VERSE * 16, batch=8)
    model = StreamModel(vocab)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        memory = None
        total_loss, count = 0.0, 0
        optimizer.zero_grad()
        for i, (inputs, targets) in enumerate(chunks(rows, args.chunk)):
            logits, memory = model(inputs, memory)
            memory = memory.detach()
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            (loss / args.accumulate).backward()
            if (i + 1) % args.accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            total_loss += loss.detach()
            count += 1
        print(f"epoch {epoch}: {count} chunks, loss {total_loss.item() / count:.4f}")


if __name__ == "__main__":
    main()
