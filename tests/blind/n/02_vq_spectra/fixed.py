"""Vector-quantised autoencoder for short spectra, with an EMA codebook (VQ-VAE v2 style)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(91)


class EMACodebook(nn.Module):
    def __init__(self, n_codes, dim, decay=0.95, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        self.register_buffer("codes", 0.15 * torch.randn(n_codes, dim))
        self.register_buffer("cluster_size", torch.ones(n_codes))
        self.register_buffer("cluster_sum", self.codes.clone())

    def forward(self, z):
        with torch.no_grad():
            idx = torch.cdist(z, self.codes).argmin(1)
        quantised = self.codes[idx]
        if self.training:
            self.update(z, idx)
        commit = F.mse_loss(z, quantised)
        # straight-through: values of the code, gradient of the encoder output
        return z + (quantised - z).detach(), commit, idx

    @torch.no_grad()
    def update(self, z, idx):
        onehot = F.one_hot(idx, self.codes.shape[0]).type_as(z)
        self.cluster_size.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
        self.cluster_sum.mul_(self.decay).add_(onehot.t() @ z, alpha=1 - self.decay)
        n = self.cluster_size.sum()
        size = (self.cluster_size + self.eps) / (n + len(self.codes) * self.eps) * n
        self.codes.copy_(self.cluster_sum / size[:, None])


class SpectrumVQ(nn.Module):
    def __init__(self, bins=32, dim=6, n_codes=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(bins, 32), nn.ReLU(inplace=True), nn.Linear(32, dim))
        self.codebook = EMACodebook(n_codes, dim)
        self.dec = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(inplace=True), nn.Linear(32, bins))

    def forward(self, x):
        z = self.enc(x)
        q, commit, idx = self.codebook(z)
        return self.dec(q), commit, idx


def spectra(n, bins=32):
    grid = torch.linspace(0, 1, bins)
    centre = torch.randint(1, 6, (n, 1)) / 6.0
    width = 0.03 + 0.05 * torch.rand(n, 1)
    return torch.exp(-((grid - centre) ** 2) / (2 * width ** 2)) + 0.02 * torch.randn(n, bins)


model = SpectrumVQ()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
used = set()
running = 0.0

for step in range(1, 61):
    x = spectra(48)
    recon, commit, idx = model(x)
    loss = F.mse_loss(recon, x)
    loss += 0.25 * commit

    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()

    running += loss.item()
    used.update(idx.tolist())
    if step % 20 == 0:
        print(f"step {step:3d}  loss {running / 20:.4f}  codes used {len(used)}")
        running = 0.0
        used.clear()
