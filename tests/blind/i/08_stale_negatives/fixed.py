"""Dense retrieval with hard negatives from an index of document vectors that is refreshed every few steps."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab=60, dim=16):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, 24, mode="mean")
        self.proj = nn.Linear(24, dim)

    def forward(self, tokens):
        return F.normalize(self.proj(torch.tanh(self.words(tokens))), dim=1)


class Index:
    """A snapshot of all document vectors. It may be some steps old: good enough for negatives."""

    def __init__(self, encoder, documents, refresh=5):
        self.encoder, self.documents, self.refresh = encoder, documents, refresh
        self.vectors, self.age = None, 0

    def tick(self):
        if self.vectors is None or self.age >= self.refresh:
            with torch.no_grad():
                self.vectors = self.encoder(self.documents)
            self.age = 0
        self.age += 1

    def hard_negatives(self, queries, positives, k=4):
        scores = queries.detach() @ self.vectors.T
        scores = scores.scatter(1, positives[:, None], -9.0)
        return self.vectors[scores.topk(k, dim=1).indices]


def corpus(docs=80, words=10, vocab=60):
    start = torch.randint(vocab, (docs, 1))
    return (start + torch.randint(0, 15, (docs, words))) % vocab


def main():
    torch.manual_seed(16)
    documents = corpus()
    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    index = Index(encoder, documents)
    losses = []
    for step in range(100):
        positives = torch.randperm(len(documents))[:16]
        words = torch.rand(16, 10).argsort(1)[:, :4]
        queries = encoder(documents[positives].gather(1, words))
        targets = encoder(documents[positives])
        index.tick()
        negatives = index.hard_negatives(queries, positives)
        positive_score = (queries * targets).sum(1, keepdim=True)
        negative_score = torch.einsum("qd,qkd->qk", queries, negatives)
        logits = torch.cat([positive_score, negative_score], 1) / 0.1
        loss = F.cross_entropy(logits, torch.zeros(16, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 19:
            print(f"step {step}: loss {sum(losses[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
