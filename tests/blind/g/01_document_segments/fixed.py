"""Tag long documents segment by segment, with one update for each document."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self, vocab=40, width=24, tags=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.context = nn.Conv1d(width, width, 3, padding=1)
        self.out = nn.Linear(width, tags)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + torch.relu(self.context(x.T[None]))[0].T
        return self.out(x)


def make_document(generator):
    length = int(torch.randint(90, 160, (), generator=generator))
    tokens = torch.randint(40, (length,), generator=generator)
    tags = (tokens % 2) * 2 + (tokens.roll(1) < 20).long()
    tags[0] = 0
    return tokens, tags


def segments(document, size=32):
    """A whole document would not fit: pieces of `size` tokens."""
    tokens, tags = document
    for start in range(0, len(tokens), size):
        yield tokens[start:start + size], tags[start:start + size]


def train_document(model, optimizer, document):
    tokens, _ = document
    optimizer.zero_grad()
    doc_loss = 0.0
    for piece, wanted in segments(document):
        loss = F.cross_entropy(model(piece), wanted, reduction="sum") / len(tokens)
        doc_loss += loss.item()
        loss.backward()  # frees this segment before the next one is read
    optimizer.step()
    return float(doc_loss)


def main():
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(21)
    documents = [make_document(generator) for _ in range(24)]
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        losses = [train_document(model, optimizer, documents[i]) for i in torch.randperm(24).tolist()]
        print(f"epoch {epoch}: loss of a document {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
