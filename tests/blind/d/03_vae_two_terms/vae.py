import torch
import torch.nn as nn


class BetaVAE(nn.Module):
    def __init__(self, n_in, n_hidden, n_latent):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, n_hidden), nn.Tanh())
        self.to_mu = nn.Linear(n_hidden, n_latent)
        self.to_logvar = nn.Linear(n_hidden, n_latent)
        self.dec = nn.Sequential(nn.Linear(n_latent, n_hidden), nn.Tanh(), nn.Linear(n_hidden, n_in))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        hidden = self.enc(x)
        mu, logvar = self.to_mu(hidden), self.to_logvar(hidden)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar
