"""Prototype classifier: each class has a running mean of its embeddings, updated with momentum after every batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PrototypeNet(nn.Module):
    def __init__(self, inputs, dim, classes, momentum=0.9):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, dim))
        self.momentum = momentum
        self.prototypes = {c: F.normalize(torch.randn(dim), dim=0) for c in range(classes)}

    def forward(self, x):
        return F.normalize(self.encoder(x), dim=1)

    def logits(self, emb):
        bank = torch.stack([self.prototypes[c] for c in sorted(self.prototypes)])
        return emb @ bank.T / 0.2

    def update_prototypes(self, emb, labels):
        for c in labels.unique().tolist():
            mean = emb[labels == c].mean(0)
            mixed = self.momentum * self.prototypes[c] + (1 - self.momentum) * mean
            self.prototypes[c] = F.normalize(mixed, dim=0)


def sample(centers, n):
    y = torch.randint(len(centers), (n,))
    return centers[y] + 0.8 * torch.randn(n, centers.shape[1]), y


def main():
    torch.manual_seed(60)
    centers = torch.randn(5, 16)
    model = PrototypeNet(16, 8, 5)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        total = 0.0
        for _ in range(10):
            x, y = sample(centers, 40)
            emb = model(x)
            loss = F.cross_entropy(model.logits(emb), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.update_prototypes(emb.detach(), y)
            total += loss.item()
        x, y = sample(centers, 200)
        with torch.no_grad():
            accuracy = (model.logits(model(x)).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch}: loss {total / 10:.4f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
