"""Classify small graphs with typed edges."""
import random

import torch
import torch.nn.functional as F

from graphs import RelationNet, TypedGraph


def random_graph(key, generator):
    """The class is the type of edge that is more frequent."""
    n = 8
    label = key % 2
    adjacency = torch.rand(n, n, generator=generator) < 0.4
    mostly = torch.rand(n, n, generator=generator) < 0.65
    types = torch.where(mostly, label, 1 - label)
    features = torch.ones(n, 3) + 0.1 * torch.randn(n, 3, generator=generator)
    return TypedGraph(key, adjacency | torch.eye(n).bool(), types, features, torch.tensor([label]))


def run_epoch(model, optimizer, graphs):
    total = hits = 0
    for graph in graphs:
        logits = model(graph)
        loss = F.cross_entropy(logits, graph.label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        hits += int(logits.argmax() == graph.label)
    return total / len(graphs), hits / len(graphs)


def main():
    torch.manual_seed(28)
    random.seed(28)
    generator = torch.Generator().manual_seed(14)
    graphs = [random_graph(key, generator) for key in range(60)]
    model = RelationNet(3, 16, types=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for epoch in range(6):
        random.shuffle(graphs)
        loss, accuracy = run_epoch(model, optimizer, graphs)
        weights = [round(w, 3) for w in F.softplus(model.relation.detach()).tolist()]
        print(f"epoch {epoch}: loss {loss:.4f} accuracy {accuracy:.3f} relation weights {weights}")


if __name__ == "__main__":
    main()
