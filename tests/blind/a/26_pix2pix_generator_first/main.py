"""Image-to-image translation, generator first (adversarial + L1), as a class."""
import torch
from torch import nn


class Pix2Pix:
    def __init__(self, width=6, lam=10.0, lr=4e-3):
        self.lam = lam
        self.gen = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.LeakyReLU(0.2),
                                 nn.Conv2d(width, width, 3, padding=1), nn.LeakyReLU(0.2),
                                 nn.Conv2d(width, 1, 3, padding=1), nn.Tanh())
        self.disc = nn.Sequential(nn.Conv2d(2, width, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
                                  nn.Conv2d(width, 1, 3, padding=1))
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=lr, betas=(0.5, 0.99))

    def gan_loss(self, pred, real):
        target = torch.ones_like(pred) if real else torch.zeros_like(pred)
        return nn.functional.mse_loss(pred, target)

    def score(self, source, image):
        return self.disc(torch.cat([source, image], dim=1))

    def optimize(self, source, target):
        fake = self.gen(source)
        self.opt_g.zero_grad()
        self.opt_d.zero_grad()
        # generator
        adv = self.gan_loss(self.score(source, fake), True)
        l1 = nn.functional.l1_loss(fake, target)
        (adv + self.lam * l1).backward()
        self.opt_g.step()
        # discriminator
        d_real = self.gan_loss(self.score(source, target), True)
        d_fake = self.gan_loss(self.score(source, fake), False)
        d_loss = 0.5 * (d_real + d_fake)
        d_loss.backward()
        self.opt_d.step()
        return {"adv": adv.item(), "l1": l1.item(), "d": d_loss.item()}


def pairs(n, gen, size=8):
    """Source: noisy squares; target: their outline."""
    src = torch.full((n, 1, size, size), -1.0)
    tgt = torch.full((n, 1, size, size), -1.0)
    for k in range(n):
        r, c = torch.randint(0, size - 4, (2,), generator=gen).tolist()
        src[k, 0, r:r + 4, c:c + 4] = 1.0
        tgt[k, 0, r:r + 4, c:c + 4] = 1.0
        tgt[k, 0, r + 1:r + 3, c + 1:c + 3] = -1.0
    return src + 0.1 * torch.randn(src.shape, generator=gen), tgt


def main():
    torch.manual_seed(26)
    gen = torch.Generator().manual_seed(260)
    model = Pix2Pix()
    source, target = pairs(24, gen)
    for epoch in range(5):
        rows = [model.optimize(source[k:k + 6], target[k:k + 6]) for k in range(0, 24, 6)]
        print(f"epoch {epoch}: " + " ".join(f"{k} {sum(r[k] for r in rows) / len(rows):.4f}" for k in rows[0]))


if __name__ == "__main__":
    main()
