"""LightGCN with PyTorch Geometric: the library's own model, its propagation and its loss.

`get_embedding` is called once an epoch, to save time. But it starts from parameters: the first batch's backward frees
what the second needs. What to look for: the graph was made deep inside the library, and gradsan names your line.
"""

import sys

import torch
from torch_geometric.nn.models import LightGCN

from ranking import batches, report
from shop import open_shop


def main(epochs: int) -> None:
    """Train on all purchases, batch by batch."""
    torch.manual_seed(0)
    shop = open_shop()
    model = LightGCN(shop.nodes, embedding_dim=32, num_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with torch.no_grad():
        report("untrained", model.get_embedding(shop.edges), shop)
    for _ in range(epochs):
        nodes = model.get_embedding(shop.edges)
        for users, bought, others in batches(shop):
            liked = (nodes[users] * nodes[bought]).sum(dim=1)
            ignored = (nodes[users] * nodes[others]).sum(dim=1)
            loss = model.recommendation_loss(liked, ignored, node_id=torch.cat([users, bought, others]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        report("trained", model.get_embedding(shop.edges), shop)


if __name__ == "__main__":
    main(epochs=int(sys.argv[1]) if len(sys.argv) > 1 else 30)
