"""Continue playlists with LightGCN, trained with BPR on minibatches of edges."""
import torch

from model import LightGCN

torch.manual_seed(13)

N_PLAYLISTS, N_SONGS, GENRES = 40, 70, 5


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
