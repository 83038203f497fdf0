"""Language identification from character bigrams."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LANGUAGES = ["aba", "cde", "bea", "dcc"]
ALPHABET = 5


def corpus(count, length=30):
    """Words of a made-up language are likely to go on as its pattern does."""
    labels = torch.randint(len(LANGUAGES), (count,))
    texts = torch.randint(ALPHABET, (count, length))
    for i, label in enumerate(labels.tolist()):
        pattern = torch.tensor([ord(c) - ord("a") for c in LANGUAGES[label]])
        tiled = pattern.repeat(length)[:length]
        keep = torch.rand(length) < 0.5
        texts[i] = torch.where(keep, tiled, texts[i])
    return TensorDataset(texts, labels)


class Identifier(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.bigrams = nn.EmbeddingBag(ALPHABET * ALPHABET, width, mode="mean")
        self.classify = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, len(LANGUAGES)))

    def forward(self, texts):
        pairs = texts[:, :-1] * ALPHABET + texts[:, 1:]
        return self.classify(self.bigrams(pairs))


class Learner:
    def __init__(self, model, lr, clip):
        self.model, self.clip = model, clip
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def update(self, loss):
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.zero_grad()
        self.optimizer.step()
        return norm.item()

    def epoch(self, loader):
        total, count, norms = 0.0, 0, []
        for texts, labels in loader:
            loss = nn.functional.cross_entropy(self.model(texts), labels)
            norms.append(self.update(loss))
            total += loss.item() * len(labels)
            count += len(labels)
        return total / count, max(norms)


torch.manual_seed(16)
data = corpus(320)
learner = Learner(Identifier(), lr=2e-2, clip=1.0)
loader = DataLoader(data, batch_size=32, shuffle=True)
for epoch in range(6):
    loss, norm = learner.epoch(loader)
    print(f"epoch {epoch}: loss {loss:.4f} largest gradient norm {norm:.3f}")
