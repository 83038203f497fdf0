"""LightGCN with DGL: graph convolutions without weights, whose messages DGL's own kernels pass along the edges.

The first layer starts from parameters, so message passing is a part of the forward pass. It stands in the loop over
batches, and every batch sees the embeddings as the last step left them.
"""

import sys

import dgl
import torch
from dgl.nn import GraphConv
from torch import Tensor, nn

from ranking import batches, bpr_loss, report
from shop import open_shop


class LightGCN(nn.Module):
    """Embeddings of users and items, smoothed over the graph of purchases."""

    def __init__(self, nodes: int, width: int = 32, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(nodes, width)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.convolutions = nn.ModuleList(
            GraphConv(width, width, norm="both", weight=False, bias=False, allow_zero_in_degree=True)
            for _ in range(layers)
        )

    def forward(self, graph: dgl.DGLGraph) -> Tensor:
        """Each node as the mean over all layers."""
        layers = [self.embedding.weight]
        for convolve in self.convolutions:
            layers.append(convolve(graph, layers[-1]))
        return torch.stack(layers).mean(dim=0)


def main(epochs: int) -> None:
    """Train on all purchases, batch by batch."""
    torch.manual_seed(0)
    shop = open_shop()
    graph = dgl.graph(tuple(shop.edges), num_nodes=shop.nodes)
    model = LightGCN(shop.nodes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with torch.no_grad():
        report("untrained", model(graph), shop)
    for _ in range(epochs):
        for users, bought, others in batches(shop):
            nodes = model(graph)
            loss = bpr_loss(nodes[users], nodes[bought], nodes[others])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        report("trained", model(graph), shop)


if __name__ == "__main__":
    main(epochs=int(sys.argv[1]) if len(sys.argv) > 1 else 30)
