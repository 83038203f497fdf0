import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, n_in, n_hidden, n_latent):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, n_hidden), nn.LeakyReLU(0.2))
        self.mean = nn.Linear(n_hidden, n_latent)
        self.log_var = nn.Linear(n_hidden, n_latent)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.log_var(h).clamp(-6, 4)


class Decoder(nn.Module):
    def __init__(self, n_latent, n_hidden, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_latent, n_hidden), nn.LeakyReLU(0.2),
            nn.Linear(n_hidden, n_hidden), nn.LeakyReLU(0.2),
            nn.Linear(n_hidden, n_out), nn.Sigmoid(),
        )

    def forward(self, z):
        return self.body(z)


class Critic(nn.Module):
    """Returns a logit and the hidden features used as a learned similarity."""

    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_in, n_hidden), nn.LeakyReLU(0.2), nn.Linear(n_hidden, n_hidden), nn.Tanh())
        self.score = nn.Linear(n_hidden, 1)

    def forward(self, x):
        f = self.features(x)
        return self.score(f).squeeze(-1), f


def reparameterize(mean, log_var, gen):
    return mean + torch.exp(0.5 * log_var) * torch.randn(mean.shape, generator=gen)
