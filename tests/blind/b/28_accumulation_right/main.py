"""Gradient accumulation with a partial last group and a scheduler per update."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Accumulator:
    def __init__(self, model, optimizer, scheduler, every):
        self.model, self.optimizer, self.scheduler, self.every = model, optimizer, scheduler, every
        self.pending = 0

    def add(self, loss, weight):
        (loss * weight).backward()
        self.pending += 1
        if self.pending == self.every:
            self.flush()

    def flush(self):
        if self.pending == 0:
            return
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.scheduler.step()
        self.model.zero_grad()
        self.pending = 0


def main():
    torch.manual_seed(28)
    x = torch.randn(44, 5)
    y = (x.sum(1, keepdim=True) > 0).float()
    loader = DataLoader(TensorDataset(x, y), batch_size=4)
    model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    accumulator = Accumulator(model, optimizer, scheduler, every=3)
    for epoch in range(4):
        total = 0.0
        for inputs, labels in loader:
            loss = F.binary_cross_entropy_with_logits(model(inputs), labels)
            accumulator.add(loss, 1 / 3)
            total += loss.item()
        accumulator.flush()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
