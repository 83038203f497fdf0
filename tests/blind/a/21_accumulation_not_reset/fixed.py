"""Text classification with gradient accumulation over micro-batches."""
import csv
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader


class BagOfWords(nn.Module):
    def __init__(self, vocab, width=12, classes=2):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, width, mode="mean")
        self.fc = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, classes))

    def forward(self, tokens, offsets):
        return self.fc(self.embed(tokens, offsets))


def reviews():
    good, bad = "good fine great warm lovely".split(), "bad poor cold dull weak".split()
    filler = "the film was and a story with acting".split()
    rows = []
    for i in range(24):
        words = good if i % 2 else bad
        text = [filler[(i + j) % 8] for j in range(3 + i % 3)] + [words[i % 5], words[(i * 2) % 5]]
        rows.append((text, i % 2))
    vocab = {w: k for k, w in enumerate(sorted({w for t, _ in rows for w in t}))}
    return [([vocab[w] for w in t], y) for t, y in rows], len(vocab)


def collate(rows):
    offsets, tokens = [0], []
    for t, _ in rows:
        tokens += t
        offsets.append(len(tokens))
    return {"tokens": torch.tensor(tokens), "offsets": torch.tensor(offsets[:-1]),
            "label": torch.tensor([y for _, y in rows])}


def train(model, loader, opt, epochs, accumulate, writer):
    loss_fn = nn.CrossEntropyLoss()
    accumulated = 0.0
    opt.zero_grad()
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            logits = model(batch["tokens"], batch["offsets"])
            accumulated = accumulated + loss_fn(logits, batch["label"]) / accumulate
            if (i + 1) % accumulate == 0:
                accumulated.backward()
                opt.step()
                opt.zero_grad()
                last, accumulated = accumulated.item(), 0.0
                writer.writerow([epoch, i, f"{last:.4f}"])
        print(f"epoch {epoch}: loss {last:.4f}")


def main():
    torch.manual_seed(21)
    rows, n_words = reviews()
    loader = DataLoader(rows, batch_size=4, shuffle=True, collate_fn=collate)
    model = BagOfWords(n_words)
    opt = torch.optim.Adam(model.parameters(), lr=0.03)
    path = os.path.join(tempfile.mkdtemp(), "log.csv")
    with open(path, "w", newline="") as f:
        train(model, loader, opt, epochs=5, accumulate=3, writer=csv.writer(f))
    print("rows logged:", sum(1 for _ in open(path)))


if __name__ == "__main__":
    main()
