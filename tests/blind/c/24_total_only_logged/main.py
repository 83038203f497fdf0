"""A variational autoencoder whose weighted total is logged, and not trained."""
import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, size=10, latent=3):
        super().__init__()
        self.enc = nn.Linear(size, 12)
        self.mu, self.logvar = nn.Linear(12, latent), nn.Linear(12, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 12), nn.ReLU(), nn.Linear(12, size))

    def forward(self, x, noise):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + noise * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def terms(model, x, noise):
    decoded, mu, logvar = model(x, noise)
    return {
        "reconstruction": F.mse_loss(decoded, x, reduction="sum") / len(x),
        "divergence": -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x),
    }


class Warmup:
    def __init__(self, steps):
        self.steps, self.now = steps, 0

    def weight(self):
        self.now += 1
        return min(1.0, self.now / self.steps)


def train(model, data, epochs, random):
    warmup = Warmup(10)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    log = []
    for _ in range(epochs):
        for x in data:
            loss = terms(model, x, torch.randn(len(x), 3, generator=random))
            beta = warmup.weight()
            total = loss["reconstruction"] + beta * loss["divergence"]
            optimizer.zero_grad()
            loss["reconstruction"].backward()
            optimizer.step()
            log.append(total.item())
    return log


if __name__ == "__main__":
    torch.manual_seed(24)
    random = torch.Generator().manual_seed(240)
    data = torch.randn(30, 10, generator=random).split(6)
    log = train(VAE(), data, 4, random)
    print(f"first {log[0]:.3f} last {log[-1]:.3f}")
