"""Few-shot episodes: class prototypes are blended over episodes in a bank."""
import torch
from torch import nn
import torch.nn.functional as F


class PrototypeBank:
    def __init__(self, momentum):
        self.momentum = momentum
        self._known = {}

    def blend(self, label, prototype):
        if label in self._known:
            prototype = self.momentum * self._known[label] + (1 - self.momentum) * prototype
        self._known[label] = prototype
        return prototype

    def __len__(self):
        return len(self._known)


class Embedder(nn.Module):
    def __init__(self, size=6):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, size))
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


def episode(random, classes, ways=3, shots=2, queries=4):
    labels = torch.randperm(classes, generator=random)[:ways]
    centers = torch.stack([torch.sin(torch.arange(5) * (1.0 + label)) for label in labels.tolist()])
    support = centers[:, None] + 0.2 * torch.randn(ways, shots, 5, generator=random)
    query = centers[:, None] + 0.2 * torch.randn(ways, queries, 5, generator=random)
    return labels.tolist(), support, query


def episode_loss(embedder, bank, labels, support, query):
    prototypes = []
    for label, shots in zip(labels, support):
        prototypes.append(bank.blend(label, embedder(shots).mean(0)))
    scores = embedder(query.flatten(0, 1)) @ torch.stack(prototypes).t() * embedder.scale.exp()
    wanted = torch.arange(len(labels)).repeat_interleave(query.shape[1])
    return F.cross_entropy(scores, wanted)


def main():
    torch.manual_seed(16)
    random = torch.Generator().manual_seed(160)
    embedder, bank = Embedder(), PrototypeBank(momentum=0.6)
    sgd = torch.optim.SGD(embedder.parameters(), lr=0.1, momentum=0.9)
    for number in range(1, 13):
        loss = episode_loss(embedder, bank, *episode(random, classes=5))
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        if number % 4 == 0:
            print(f"episode {number}: {loss.item():.4f}, {len(bank)} classes known")


if __name__ == "__main__":
    main()
