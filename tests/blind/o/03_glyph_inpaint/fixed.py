"""Inpainting of damaged 8x8 glyphs with an adversarial critic.

Each iteration: (1) train the critic on whole glyphs against repaired ones,
(2) train the painter to repair (L1 + fooling the critic). While the painter is
trained the critic is frozen so that no gradients are wasted on it.
"""
import torch
from torch import nn
import torch.nn.functional as F


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad_(flag)


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(2, 12, 3, padding=1), nn.ReLU(),
            nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
            nn.Conv2d(12, 1, 3, padding=1), nn.Sigmoid())

    def forward(self, img, mask):
        out = self.net(torch.cat([img * mask, mask], dim=1))
        return img * mask + out * (1 - mask)


def make_critic():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(8 * 16, 1))


def glyphs(n):
    img = torch.zeros(n, 1, 8, 8)
    rows = torch.randint(1, 7, (n,))
    cols = torch.randint(1, 7, (n,))
    for k in range(n):
        img[k, 0, rows[k]] = 1.0
        img[k, 0, :, cols[k]] = 1.0
    mask = (torch.rand(n, 1, 8, 8) > 0.3).float()
    return img, mask


def main():
    torch.manual_seed(11)
    painter, critic = Painter(), make_critic()
    opt_p = torch.optim.Adam(painter.parameters(), lr=2e-3, betas=(0.5, 0.999))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
    bce = F.binary_cross_entropy_with_logits

    for it in range(12):
        img, mask = glyphs(16)
        fake = painter(img, mask)

        # ---- critic
        set_requires_grad(critic, True)
        s_real = critic(img)
        s_fake = critic(fake.detach())
        loss_c = bce(s_real, torch.ones_like(s_real)) + bce(s_fake, torch.zeros_like(s_fake))
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

        # ---- painter
        set_requires_grad(critic, False)
        s = critic(fake)
        loss_p = F.l1_loss(fake, img) + 0.05 * bce(s, torch.ones_like(s))
        opt_p.zero_grad()
        loss_p.backward()
        opt_p.step()

        if it % 3 == 0:
            print(f"{it:3d}  critic {loss_c.item():.4f}  painter {loss_p.item():.4f}")


if __name__ == "__main__":
    main()
