from typing import NamedTuple

import torch


class Graph(NamedTuple):
    x: torch.Tensor
    edge_index: torch.Tensor
    labels: torch.Tensor
    train_mask: torch.Tensor
    test_mask: torch.Tensor


def community_graph(n, classes, seed, p_in=0.15, p_out=0.05):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % classes
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    prob = torch.where(same, p_in, p_out)
    upper = torch.triu(torch.rand(n, n, generator=gen) < prob, diagonal=1)
    src, dst = upper.nonzero(as_tuple=True)
    edge_index = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    centers = torch.randn(classes, 8, generator=gen)
    x = centers[labels] + 2.0 * torch.randn(n, 8, generator=gen)
    train_mask = torch.zeros(n, dtype=torch.bool)
    train_mask[torch.randperm(n, generator=gen)[: n // 2]] = True
    return Graph(x, edge_index, labels, train_mask, ~train_mask)
