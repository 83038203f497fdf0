"""Graph operations."""
import torch


def adaptive_adjacency(source, target):
    scores = torch.relu(source @ target.t())
    adj = torch.softmax(scores, dim=1)
    return adj / adj.sum(dim=1, keepdim=True)


def diffuse(h, adj, hops):
    out = [h]
    for _ in range(hops):
        h = torch.einsum("nm,bmd->bnd", adj, h)
        out.append(h)
    return torch.cat(out, dim=-1)
