import torch
import torch.nn as nn


class Trainer:
    """Minimal trainer. Subclasses give compute_loss(batch)."""

    clip = None

    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def compute_loss(self, batch):
        raise NotImplementedError

    def update(self, loss):
        """Back-propagates the loss, clips if wanted, and steps."""
        loss.backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()

    def training_step(self, batch):
        self.optimizer.zero_grad()
        loss = self.compute_loss(batch)
        self.update(loss)
        return loss.item()

    def fit(self, data, epochs, batch_size):
        n = len(data[0])
        for epoch in range(epochs):
            order = torch.randperm(n).split(batch_size)
            losses = [self.training_step(tuple(part[rows] for part in data)) for rows in order]
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")
