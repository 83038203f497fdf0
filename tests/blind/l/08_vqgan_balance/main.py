"""First stage of a VQGAN-like image coder (no codebook here, to keep it short).

As in taming-transformers the adversarial term is scaled so that, at the
decoder's last layer, its gradient is as large as the reconstruction's.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 4, 3, 1, 1))
        self.up = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(4, 8, 3, 1, 1), nn.SiLU())
        self.conv_out = nn.Conv2d(8, 1, 3, 1, 1)

    def forward(self, x):
        return self.conv_out(self.up(self.enc(x)))


class PatchCritic(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3, 1, 1))


class CoderLoss:
    def __init__(self, critic, start=2, weight=0.8):
        self.critic, self.start, self.weight = critic, start, weight

    def adaptive_weight(self, nll, g_loss, last_layer):
        nll_grad = torch.autograd.grad(nll, last_layer)[0]
        g_grad = torch.autograd.grad(g_loss, last_layer)[0]
        ratio = nll_grad.norm() / (g_grad.norm() + 1e-4)
        return ratio.clamp(0, 1e4).detach() * self.weight

    def generator(self, x, recon, last_layer, step):
        nll = (x - recon).abs().mean()
        g_loss = -self.critic(recon).mean()
        if step < self.start:
            return nll
        return nll + self.adaptive_weight(nll, g_loss, last_layer) * g_loss

    def discriminator(self, x, recon):
        real, fake = self.critic(x), self.critic(recon.detach())
        return 0.5 * (F.relu(1 - real).mean() + F.relu(1 + fake).mean())


def main(steps=8):
    torch.manual_seed(13)
    coder, critic = Coder(), PatchCritic()
    criterion = CoderLoss(critic)
    opt_g = torch.optim.Adam(coder.parameters(), lr=2e-3, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))
    for step in range(steps):
        x = torch.rand(6, 1, 8, 8)
        recon = coder(x)

        loss_g = criterion.generator(x, recon, coder.conv_out.weight, step)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()

        loss_d = criterion.discriminator(x, recon)
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
        print(f"{step} g {loss_g.item():+.4f} d {loss_d.item():.4f}")


main()
