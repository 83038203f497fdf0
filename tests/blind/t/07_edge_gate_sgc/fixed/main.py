"""Semi-supervised node classification where the trust in every edge is learned too."""
import argparse

import torch
import torch.nn.functional as F

from data import community_graph
from layers import EdgeGatedSGC


def accuracy(logits, labels, mask):
    return (logits[mask].argmax(1) == labels[mask]).float().mean().item()


def evaluate(model, graph):
    model.eval()
    with torch.no_grad():
        logits = model(graph.x, graph.edge_index)
        gates = model.gates()
    same = graph.labels[graph.edge_index[0]] == graph.labels[graph.edge_index[1]]
    return accuracy(logits, graph.labels, graph.test_mask), gates[same].mean().item(), gates[~same].mean().item()


def train(args):
    torch.manual_seed(args.seed)
    graph = community_graph(args.nodes, args.classes, args.seed)
    model = EdgeGatedSGC(
        graph.x.size(1), args.hidden, args.classes, graph.edge_index.size(1), hops=args.hops, dropout=0.2
    )
    decay = [p for n, p in model.named_parameters() if not n.startswith("edge_score")]
    optimizer = torch.optim.Adam([
        {"params": decay, "weight_decay": 5e-4},
        {"params": [model.edge_score], "lr": 5 * args.lr},
    ], lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        logits = model(graph.x, graph.edge_index)
        fit = F.cross_entropy(logits[graph.train_mask], graph.labels[graph.train_mask])
        sparsity = model.gates().mean()
        loss = fit + args.sparsity * sparsity
        loss.backward()
        optimizer.step()
        if epoch % 10 == 9:
            acc, within, across = evaluate(model, graph)
            print(f"epoch {epoch + 1:2d} loss {loss.item():.4f} test acc {acc:.3f} "
                  f"gate within {within:.3f} across {across:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=90)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--hops", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--sparsity", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=9)
    train(parser.parse_args())
