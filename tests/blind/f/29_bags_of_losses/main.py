"""Loss terms are collected as tensors for one group of documents, back-propagated once, and logged as numbers."""
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class DocumentScorer(nn.Module):
    def __init__(self, vocab=60, width=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, tokens):
        _, last = self.rnn(self.embed(tokens)[None])
        return self.out(last[-1, 0]).squeeze()


def documents(count):
    """Documents of different length; relevant ones have many small token ids."""
    found = []
    for _ in range(count):
        label = torch.rand(()) < 0.5
        length = int(torch.randint(4, 12, ()))
        tokens = torch.randint(0, 25 if label else 60, (length,))
        found.append((tokens, label.float()))
    return found


class GroupUpdate:
    """Sums the losses of a group, so that one update sees all of its documents."""

    def __init__(self, model, optimizer, size):
        self.model, self.optimizer, self.size = model, optimizer, size
        self.pending = []
        self.window = deque(maxlen=60)

    def add(self, loss):
        self.pending.append(loss)
        if len(self.pending) == self.size:
            self.flush()

    def flush(self):
        if not self.pending:
            return
        total = torch.stack(self.pending).mean()
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        self.window.extend(loss.item() for loss in self.pending)
        self.pending = []


torch.manual_seed(83)
model = DocumentScorer()
update = GroupUpdate(model, torch.optim.Adam(model.parameters(), lr=1e-2), size=6)
corpus = documents(75)
for epoch in range(4):
    for i in torch.randperm(len(corpus)).tolist():
        tokens, label = corpus[i]
        update.add(F.binary_cross_entropy_with_logits(model(tokens), label))
    update.flush()
    print(f"epoch {epoch}: mean of the last {len(update.window)} losses {sum(update.window) / len(update.window):.4f}")
