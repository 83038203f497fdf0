"""Latent variable model with a learned Gaussian prior (torch.distributions)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal, kl_divergence


class LatentModel(nn.Module):
    def __init__(self, inputs, latent=3):
        super().__init__()
        self.prior_mean = nn.Parameter(torch.zeros(latent))
        self.prior_raw_std = nn.Parameter(torch.zeros(latent))
        self.encoder = nn.Linear(inputs, 2 * latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 24), nn.Tanh(), nn.Linear(24, inputs))

    @property
    def prior(self):
        return Independent(Normal(self.prior_mean, F.softplus(self.prior_raw_std)), 1)

    def posterior(self, x):
        mean, raw = self.encoder(x).chunk(2, -1)
        return Independent(Normal(mean, F.softplus(raw) + 1e-3), 1)

    def negative_elbo(self, x):
        q = self.posterior(x)
        z = q.rsample()
        likelihood = Normal(self.decoder(z), 0.3).log_prob(x).sum(-1)
        return (kl_divergence(q, self.prior) - likelihood).mean()

    @torch.no_grad()
    def sample(self, n):
        return self.decoder(self.prior.sample((n,)))


def curved_data(n):
    z = 1.5 + 0.5 * torch.randn(n, 2)
    return torch.cat([z, z.square() / 2, z[:, :1] * z[:, 1:]], 1) + 0.1 * torch.randn(n, 5)


def main():
    torch.manual_seed(71)
    data = curved_data(256)
    model = LatentModel(5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(12):
        total = 0.0
        for rows in torch.randperm(256).split(64):
            optimizer.zero_grad()
            loss = model.negative_elbo(data[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() / 4
        if epoch % 3 == 2:
            print(f"epoch {epoch}: negative elbo {total:.3f}")
    print("data mean  ", [round(v, 2) for v in data.mean(0).tolist()])
    print("sample mean", [round(v, 2) for v in model.sample(500).mean(0).tolist()])


if __name__ == "__main__":
    main()
