"""LightGCN in plain PyTorch: a sparse adjacency matrix, multiplied with the embeddings layer by layer.

Propagation looks like preparation, and is dear: so it is done once an epoch. But it starts from parameters. The first
batch's backward walks through it and frees it, and the second batch needs it again. What to look for: gradsan names the
line below `for _ in range(epochs)`, not the batch's own lines, and moves it.
"""

import sys

import torch
from torch import Tensor, nn

from ranking import batches, bpr_loss, report
from shop import Shop, open_shop


class LightGCN(nn.Module):
    """Embeddings of users and items, smoothed over the graph of purchases."""

    def __init__(self, shop: Shop, width: int = 32, layers: int = 2) -> None:
        super().__init__()
        self.layers = layers
        self.embedding = nn.Embedding(shop.nodes, width)
        nn.init.normal_(self.embedding.weight, std=0.1)
        degree = shop.edges[0].bincount(minlength=shop.nodes).float()
        weight = degree[shop.edges].prod(dim=0).rsqrt()
        shape = (shop.nodes, shop.nodes)
        self.adjacency = torch.sparse_coo_tensor(shop.edges, weight, shape, check_invariants=True).coalesce()

    def forward(self) -> Tensor:
        """Each node as the mean over all layers."""
        layer = total = self.embedding.weight
        for _ in range(self.layers):
            layer = torch.sparse.mm(self.adjacency, layer)
            total = total + layer
        return total / (self.layers + 1)


def main(epochs: int) -> None:
    """Train on all purchases, batch by batch."""
    torch.manual_seed(0)
    shop = open_shop()
    model = LightGCN(shop)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with torch.no_grad():
        report("untrained", model(), shop)
    for _ in range(epochs):
        nodes = model()
        for users, bought, others in batches(shop):
            loss = bpr_loss(nodes[users], nodes[bought], nodes[others])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        report("trained", model(), shop)


if __name__ == "__main__":
    main(epochs=int(sys.argv[1]) if len(sys.argv) > 1 else 30)
