"""Image-like classifier with an L1 penalty on the activations of its hidden layers."""
import json
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from taps import ActivationTap


@dataclass
class Options:
    epochs: int = 3
    batch_size: int = 6
    lr: float = 1e-2
    l1: float = 0.05
    seed: int = 20


class Blobs(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=gen)
        self.x = torch.randn(n, 1, 6, 6, generator=gen) + self.y.view(-1, 1, 1, 1) * 0.5

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(),
            nn.Conv2d(4, 6, 3), nn.ReLU(),
            nn.Flatten(),
        )
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.features(x))


class Experiment:
    def __init__(self, opt):
        self.opt = opt
        torch.manual_seed(opt.seed)
        self.model = SmallNet()
        self.tap = ActivationTap(self.model, (nn.ReLU,))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=opt.lr)
        self.loader = DataLoader(Blobs(30, 1), batch_size=opt.batch_size, shuffle=True)
        self.val = DataLoader(Blobs(12, 2), batch_size=12)
        self.history = []

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            self.optimizer.zero_grad()
            self.tap.outputs.clear()
            logits = self.model(x)
            ce = nn.functional.cross_entropy(logits, y)
            loss = ce + self.opt.l1 * self.tap.penalty()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.val)
        return right / len(self.val.dataset)

    def run(self):
        for epoch in range(self.opt.epochs):
            row = {"epoch": epoch, "loss": round(self.train_epoch(), 5), "acc": round(self.evaluate(), 4)}
            self.history.append(row)
            print(json.dumps(row))
        self.tap.close()
        os.makedirs("results", exist_ok=True)
        with open("results/history.json", "w") as handle:
            json.dump(self.history, handle)


if __name__ == "__main__":
    Experiment(Options()).run()
