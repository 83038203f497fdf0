"""Mini-batch node classification with historical embeddings for neighbours outside of the batch."""
import argparse

import torch
import torch.nn.functional as F

from gas import HistoryGCN


def planted_graph(nodes, classes, generator):
    labels = torch.randint(classes, (nodes,), generator=generator)
    same = labels[:, None] == labels[None, :]
    chance = torch.where(same, 0.08, 0.01)
    adjacency = (torch.rand(nodes, nodes, generator=generator) < chance).float()
    adjacency = ((adjacency + adjacency.T) > 0).float()
    adjacency.fill_diagonal_(1.0)
    features = torch.randn(nodes, 16, generator=generator)
    features[:, :classes] += 0.9 * F.one_hot(labels, classes)
    return adjacency / adjacency.sum(1, keepdim=True), features, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--parts", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(2)
    adjacency, features, labels = planted_graph(200, 4, torch.Generator().manual_seed(1))
    model = HistoryGCN(200, 16, 32, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=5e-4)
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for part in torch.randperm(200).chunk(args.parts):
            logits = model(features, adjacency, part)
            loss = F.cross_entropy(logits, labels[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            hits = model(features, adjacency, torch.arange(200)).argmax(1) == labels
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, accuracy {hits.float().mean():.3f}")


if __name__ == "__main__":
    main()
