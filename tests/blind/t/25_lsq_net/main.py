"""Quantization-aware training of a 3 bit picture classifier with learned step sizes."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from quant import QuantConv, QuantLinear


def digits_like(n, seed):
    g = torch.Generator().manual_seed(seed)
    patterns = torch.rand(5, 1, 8, 8, generator=torch.Generator().manual_seed(70)).round()
    y = torch.randint(0, 5, (n,), generator=g)
    keep = (torch.rand(n, 1, 8, 8, generator=g) > 0.25).float()
    return TensorDataset(patterns[y] * keep + 0.3 * torch.rand(n, 1, 8, 8, generator=g), y)


def build(bits):
    return nn.Sequential(
        QuantConv(1, 8, 3, padding=1, bits=bits), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        QuantConv(8, 16, 3, padding=1, bits=bits), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), QuantLinear(64, 5, bits=bits),
    )


def parameter_groups(model, lr, weight_decay):
    steps = [p for name, p in model.named_parameters() if name.endswith(".step")]
    others = [p for name, p in model.named_parameters() if not name.endswith(".step")]
    return [
        {"params": others, "lr": lr, "weight_decay": weight_decay},
        {"params": steps, "lr": lr, "weight_decay": 0.0},
    ]


class Trainer:
    def __init__(self, model, lr=5e-3, weight_decay=1e-4):
        self.model = model
        self.optimizer = torch.optim.AdamW(parameter_groups(model, lr, weight_decay))

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.model.train()
            total, hits, seen = 0.0, 0, 0
            for x, y in loader:
                logits = self.model(x)
                loss = F.cross_entropy(logits, y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(y)
                hits += (logits.argmax(1) == y).sum().item()
                seen += len(y)
            print(f"epoch {epoch}: loss {total / seen:.4f}  acc {hits / seen:.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bits", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(digits_like(320, seed=1), batch_size=40, shuffle=True)
    model = build(args.bits)
    Trainer(model).fit(loader, args.epochs)
    for name, p in model.named_parameters():
        if name.endswith(".step"):
            print(f"{name:20s} {p.item():.4f}")


if __name__ == "__main__":
    main()
