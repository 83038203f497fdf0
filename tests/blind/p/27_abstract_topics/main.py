"""Topic classifier for abstracts of different lengths.

Abstracts are not padded: each one is encoded by itself with a GRU over its
tokens, and a step is taken on the mean loss over a batch of abstracts.
"""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
random.seed(1)

VOCAB, TOPICS = 120, 3


class AbstractClassifier(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, TOPICS)

    def forward(self, tokens):
        _, h = self.gru(self.embedding(tokens).unsqueeze(0))
        return self.out(h[-1])


def write_abstract():
    topic = random.randrange(TOPICS)
    length = random.randint(6, 15)
    words = [random.randrange(40 * topic, 40 * (topic + 1)) if random.random() < 0.6
             else random.randrange(VOCAB) for _ in range(length)]
    return torch.tensor(words), torch.tensor([topic])


def batches(items, size):
    items = random.sample(items, len(items))
    for start in range(0, len(items), size):
        yield items[start:start + size]


abstracts = [write_abstract() for _ in range(96)]
model = AbstractClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(5):
    epoch_loss = 0.0
    for batch in batches(abstracts, 16):
        losses = []
        for tokens, topic in batch:
            logits = model(tokens)
            losses.append(F.cross_entropy(logits, topic))
        loss = torch.tensor(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(batch)
    print(f"epoch {epoch}: loss {epoch_loss / len(abstracts):.4f}")
