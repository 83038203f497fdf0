"""Continue playlists with LightGCN, trained with BPR on minibatches of edges."""
from functools import cached_property

import torch
import torch.nn as nn

torch.manual_seed(13)

N_PLAYLISTS, N_SONGS, GENRES = 40, 70, 5


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

    @property
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


def make_edges():
    genre_p = torch.randint(0, GENRES, (N_PLAYLISTS,))
    genre_s = torch.randint(0, GENRES, (N_SONGS,))
    prob = torch.where(genre_p[:, None] == genre_s[None, :], 0.5, 0.04)
    return (torch.rand(N_PLAYLISTS, N_SONGS) < prob).nonzero(as_tuple=True)


def main():
    playlists, songs = make_edges()
    model = LightGCN(N_PLAYLISTS, N_SONGS, (playlists, songs))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)

    for epoch in range(8):
        total = 0.0
        for idx in torch.randperm(len(playlists)).split(64):
            other = torch.randint(0, N_SONGS, (len(idx),))
            loss = model.bpr_loss(playlists[idx], songs[idx], other)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: bpr {total / len(playlists):.4f}")

    with torch.no_grad():
        print("playlist 0 ->", model.recommend(0, 5).tolist())


if __name__ == "__main__":
    main()
