"""LightGCN on the playlist-song graph."""
from functools import cached_property

import torch
import torch.nn as nn


class LightGCN(nn.Module):
    def __init__(self, n_playlists, n_songs, edges, dim=16, layers=2):
        super().__init__()
        self.n_playlists = n_playlists
        self.layers = layers
        self.table = nn.Parameter(0.1 * torch.randn(n_playlists + n_songs, dim))
        self.edges = edges
        self.n_nodes = n_playlists + n_songs

    @cached_property
    def adjacency(self):
        a = torch.zeros(self.n_nodes, self.n_nodes)
        p, s = self.edges
        a[p, s + self.n_playlists] = 1.0
        a = a + a.T
        d = a.sum(1).clamp(min=1.0).rsqrt()
        return d.unsqueeze(1) * a * d

    @cached_property
    def embeddings(self):
        h = self.table
        out = h
        for _ in range(self.layers):
            h = self.adjacency @ h
            out = out + h
        out = out / (self.layers + 1)
        return out[: self.n_playlists], out[self.n_playlists:]

    def bpr_loss(self, playlists, liked, other, reg=1e-3):
        p_emb, s_emb = self.embeddings
        p, pos, neg = p_emb[playlists], s_emb[liked], s_emb[other]
        ranking = -nn.functional.logsigmoid((p * pos).sum(-1) - (p * neg).sum(-1)).mean()
        return ranking + reg * self.table.pow(2).sum() / len(playlists)

    def recommend(self, playlist, k):
        p_emb, s_emb = self.embeddings
        return (s_emb @ p_emb[playlist]).topk(k).indices
