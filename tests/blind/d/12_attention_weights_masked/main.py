"""Sentiment of padded review snippets with additive attention pooling."""
import torch
import torch.nn as nn

PAD = 0


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.query = nn.Parameter(torch.randn(dim) * 0.1)

    def forward(self, states, pad_mask):
        energy = torch.tanh(self.proj(states)) @ self.query
        weights = torch.softmax(energy, dim=1)
        weights[pad_mask] = 0.0
        return torch.bmm(weights.unsqueeze(1), states).squeeze(1), weights


class ReviewClassifier(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.pool = AttentionPool(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, tokens):
        mask = tokens.eq(PAD)
        states, _ = self.gru(self.embedding(tokens))
        pooled, weights = self.pool(states, mask)
        return self.out(pooled).squeeze(-1), weights


def snippets(n, vocab, longest=9):
    tokens = torch.randint(1, vocab, (n, longest))
    for row in tokens:
        row[int(torch.randint(4, longest + 1, ())):] = PAD
    return tokens, (tokens.eq(3) | tokens.eq(7)).any(dim=1).float()


def main():
    torch.manual_seed(14)
    tokens, labels = snippets(64, vocab=14)
    model = ReviewClassifier(14)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        order = torch.randperm(len(tokens))
        running = 0.0
        for idx in order.split(16):
            optimizer.zero_grad()
            logits, _ = model(tokens[idx])
            loss = criterion(logits, labels[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        print(f"[{epoch}] loss {running / len(tokens):.4f}")


if __name__ == "__main__":
    main()
