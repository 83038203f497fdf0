"""Multiple-instance learning: a bag is positive if it has at least one positive instance."""
import argparse

import torch
import torch.nn as nn


class AttentionPooling(nn.Module):
    """Weighted mean of the instances; the last weights are kept for the heat maps."""

    def __init__(self, dim, hidden=16):
        super().__init__()
        self.V = nn.Linear(dim, hidden)
        self.U = nn.Linear(dim, hidden)
        self.w = nn.Linear(hidden, 1)
        self.last_weights = None

    def forward(self, instances):
        gate = torch.tanh(self.V(instances)) * torch.sigmoid(self.U(instances))
        weights = self.last_weights = torch.softmax(self.w(gate), dim=1).detach()
        return (weights * instances).sum(dim=1)


class BagClassifier(nn.Module):
    def __init__(self, features=6, dim=16):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(features, dim), nn.ReLU())
        self.pool = AttentionPooling(dim)
        self.classify = nn.Linear(dim, 1)

    def forward(self, bags):
        return self.classify(self.pool(self.embed(bags))).squeeze(1)

    def heat_map(self):
        return self.pool.last_weights.squeeze(2)


def make_bags(count, size=10, features=6):
    bags = torch.randn(count, size, features)
    labels = (torch.arange(count) % 2).float()
    witness = torch.randint(0, size, (count,))
    positive = labels.bool()
    bags[positive, witness[positive]] += torch.tensor([2.5, -2.5, 2.5, 0.0, 0.0, 0.0])
    return bags, labels, witness


def main(args):
    torch.manual_seed(args.seed)
    bags, labels, witness = make_bags(args.bags)
    split = int(0.8 * args.bags)
    model = BagClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        total = 0.0
        for index in torch.randperm(split).split(32):
            optimizer.zero_grad()
            loss = criterion(model(bags[index]), labels[index])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(index) / split
        with torch.no_grad():
            right = (model(bags[split:]) > 0).float() == labels[split:]
            found = model.heat_map().argmax(1) == witness[split:]
        found = found[labels[split:].bool()].float().mean().item()
        print(f"epoch {epoch}: loss {total:.4f} accuracy {right.float().mean().item():.3f} witness found {found:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bags", type=int, default=320)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=37)
    main(parser.parse_args())
