"""GAN where one batch of fakes serves both players, the generator first."""
import torch
from torch import nn
from torch.nn import functional as F


def main():
    torch.manual_seed(27)
    gen = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 6))
    disc = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
    opt_g = torch.optim.Adam(gen.parameters(), lr=2e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.99))
    valid, invalid = torch.ones(8, 1), torch.zeros(8, 1)
    g_log, d_log = [], []
    for step in range(20):
        real = torch.randn(8, 6) * 0.3 + 1.0

        opt_g.zero_grad()
        fake = gen(torch.randn(8, 3))
        g_loss = F.binary_cross_entropy_with_logits(disc(fake), valid)
        g_loss.backward()
        opt_g.step()

        opt_d.zero_grad()
        loss_real = F.binary_cross_entropy_with_logits(disc(real), valid)
        loss_fake = F.binary_cross_entropy_with_logits(disc(fake.detach()), invalid)
        loss_real.backward()
        loss_fake.backward()
        opt_d.step()

        g_log.append(g_loss.item())
        d_log.append((loss_real + loss_fake).item() / 2)
        if step % 5 == 0:
            print(f"step {step}: G {g_log[-1]:.4f} D {d_log[-1]:.4f}")


if __name__ == "__main__":
    main()
