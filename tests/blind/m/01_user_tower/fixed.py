"""Learn user tastes from ratings and, at the same time, from the genre of what was watched."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

n_users, n_films, n_genres = 40, 60, 5
user = torch.randint(n_users, (320,))
film = torch.randint(n_films, (320,))
stars = torch.randint(1, 6, (320,)).float()
genre = film % n_genres


class Tower(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.u = nn.Embedding(n_users, width)
        self.f = nn.Embedding(n_films, width)
        self.mix = nn.Linear(2 * width, width)

    def forward(self, user, film):
        return torch.tanh(self.mix(torch.cat([self.u(user), self.f(film)], dim=1)))


tower = Tower()
rate = nn.Linear(12, 1)
label = nn.Linear(12, n_genres)
optim = torch.optim.Adam([*tower.parameters(), *rate.parameters(), *label.parameters()], lr=0.01)

for epoch in range(3):
    for part in torch.randperm(320).split(64):
        taste = tower(user[part], film[part])
        rating_err = F.mse_loss(rate(taste).squeeze(1), stars[part])
        genre_err = F.cross_entropy(label(taste), genre[part])

        # both objectives train the tower
        optim.zero_grad()
        (rating_err + genre_err).backward()
        optim.step()
    print(f"epoch {epoch}: rating {rating_err.item():.3f}, genre {genre_err.item():.3f}")
