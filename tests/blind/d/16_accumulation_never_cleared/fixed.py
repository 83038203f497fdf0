"""Character-level language model with gradient accumulation."""
import torch
import torch.nn.functional as F
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog and the dog sleeps on while the fox runs far away "


class CharTransformer(nn.Module):
    def __init__(self, vocab, dim=16, context=12):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(context, dim))
        self.block = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)
        self.register_buffer("causal", torch.triu(torch.ones(context, context, dtype=torch.bool), diagonal=1))

    def forward(self, idx):
        x = self.tok(idx) + self.pos
        return self.head(self.block(x, src_mask=self.causal))


class Corpus:
    def __init__(self, text, context):
        self.chars = sorted(set(text))
        self.ids = torch.tensor([self.chars.index(c) for c in text])
        self.context = context

    def get_batch(self, size):
        starts = torch.randint(len(self.ids) - self.context - 1, (size,)).tolist()
        x = torch.stack([self.ids[s:s + self.context] for s in starts])
        y = torch.stack([self.ids[s + 1:s + self.context + 1] for s in starts])
        return x, y


def train(model, corpus, optimizer, iterations, accumulation_steps):
    for i in range(iterations):
        x, y = corpus.get_batch(4)
        logits = model(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / accumulation_steps).backward()
        if (i + 1) % accumulation_steps == 0:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimizer.step()
            optimizer.zero_grad()
            if (i + 1) % 16 == 0:
                print(f"iter {i + 1}: loss {loss.item():.4f} grad norm {norm.item():.3f}")


def main():
    torch.manual_seed(1337)
    corpus = Corpus(TEXT, context=12)
    model = CharTransformer(len(corpus.chars))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, corpus, optimizer, iterations=64, accumulation_steps=4)


if __name__ == "__main__":
    main()
