"""Losses for metric learning."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PrototypeLoss(nn.Module):
    """Cross entropy of the similarities to running class prototypes (a moving average of the embeddings)."""

    def __init__(self, classes, dim, momentum=0.9, temperature=0.2):
        super().__init__()
        self.momentum = momentum
        self.temperature = temperature
        self.register_buffer("prototypes", F.normalize(torch.randn(classes, dim), dim=1))

    def similarities(self, embeddings):
        return embeddings @ self.prototypes.T / self.temperature

    def update(self, embeddings, labels):
        for c in labels.unique():
            mean = embeddings[labels == c].mean(dim=0)
            mixed = self.momentum * self.prototypes[c] + (1 - self.momentum) * mean
            self.prototypes[c] = F.normalize(mixed, dim=0)

    def forward(self, embeddings, labels):
        loss = F.cross_entropy(self.similarities(embeddings), labels)
        if self.training:
            self.update(embeddings, labels)
        return loss


class SpreadPenalty(nn.Module):
    def __init__(self, target=1.0):
        super().__init__()
        self.target = target

    def forward(self, embeddings):
        return F.relu(self.target / embeddings.shape[1] ** 0.5 - embeddings.std(dim=0)).mean()
