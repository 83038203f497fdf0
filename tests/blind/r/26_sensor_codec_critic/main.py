"""Adversarially trained codec for accelerometer windows.

The codec is trained on reconstruction plus a realism term from the
discriminator; the discriminator is trained to tell windows from
reconstructions.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Codec(nn.Module):
    def __init__(self, length=64, channels=3, code=12):
        super().__init__()
        self.shape = (channels, length)
        size = channels * length
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(size, 96), nn.GELU(), nn.Linear(96, code))
        self.decoder = nn.Sequential(nn.Linear(code, 96), nn.GELU(), nn.Linear(96, size))

    def forward(self, x):
        return self.decoder(torch.tanh(self.encoder(x))).view(-1, *self.shape)


class Discriminator(nn.Module):
    def __init__(self, channels=3):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(channels, 16, 7, stride=2), nn.LeakyReLU(0.2),
            nn.Conv1d(16, 16, 7, stride=2), nn.LeakyReLU(0.2),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


class WindowSource:
    def __init__(self, seed, length=64):
        self.g = torch.Generator().manual_seed(seed)
        self.t = torch.linspace(0, 1, length)

    def batch(self, n):
        freq = 2 + 6 * torch.rand(n, 3, 1, generator=self.g)
        phase = 6.28 * torch.rand(n, 3, 1, generator=self.g)
        clean = torch.sin(6.28 * freq * self.t + phase)
        return clean + 0.1 * torch.randn(clean.shape, generator=self.g)


class Trainer:
    def __init__(self, adv_weight=0.5, lr=1e-3, seed=9):
        torch.manual_seed(seed)
        self.codec, self.disc = Codec(), Discriminator()
        self.codec_opt = torch.optim.Adam(self.codec.parameters(), lr=lr)
        self.disc_opt = torch.optim.Adam(self.disc.parameters(), lr=lr)
        self.source = WindowSource(seed)
        self.adv_weight = adv_weight

    def training_step(self, x):
        self.codec_opt.zero_grad()
        self.disc_opt.zero_grad()

        # codec
        recon = self.codec(x)
        rec_loss = F.mse_loss(recon, x)
        adv_loss = F.softplus(-self.disc(recon)).mean()
        (rec_loss + self.adv_weight * adv_loss).backward()
        self.codec_opt.step()

        # discriminator
        d_loss = F.softplus(-self.disc(x)).mean() + F.softplus(self.disc(recon.detach())).mean()
        d_loss.backward()
        self.disc_opt.step()

        return {"rec": rec_loss.item(), "adv": adv_loss.item(), "disc": d_loss.item()}

    def fit(self, steps, log_every=20):
        for step in range(1, steps + 1):
            logs = self.training_step(self.source.batch(32))
            if step % log_every == 0:
                print(f"step {step:3d} " + " ".join(f"{k} {v:.4f}" for k, v in logs.items()))


if __name__ == "__main__":
    Trainer().fit(120)
