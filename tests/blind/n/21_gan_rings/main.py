# GAN on a noisy ring in the plane
import torch
import torch.nn as nn

torch.manual_seed(10)


def ring(n):
    a = 2 * torch.pi * torch.rand(n, 1)
    r = 1 + 0.05 * torch.randn(n, 1)
    return torch.cat([r * a.cos(), r * a.sin()], 1)


G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(True), nn.Linear(32, 32), nn.ReLU(True), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2, True), nn.Linear(32, 32), nn.LeakyReLU(0.2, True), nn.Linear(32, 1))
optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(64, 1), torch.zeros(64, 1)

for i in range(40):
    fake = G(torch.randn(64, 4))

    # discriminator: one backward for the real half, one for the fake half
    D.zero_grad()
    errD_real = bce(D(ring(64)), one)
    errD_real.backward()
    errD_fake = bce(D(fake.detach()), zero)
    errD_fake.backward()
    optD.step()

    # generator: the same fakes, judged by the updated discriminator
    G.zero_grad()
    errG = bce(D(fake), one)
    errG.backward()
    optG.step()

    if i % 10 == 0:
        errD = errD_real + errD_fake
        print(f"[{i}] D {errD.item():.3f} G {errG.item():.3f}")
