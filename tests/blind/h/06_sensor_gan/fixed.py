"""GAN for short sensor traces; generator first, then discriminator, as in many tutorials."""
import torch
import torch.nn as nn

LATENT, LENGTH, BATCH = 6, 20, 32


def real_traces(n):
    t = torch.linspace(0, 3, LENGTH)
    amplitude = 0.5 + torch.rand(n, 1)
    phase = torch.rand(n, 1) * 2
    return amplitude * torch.sin(2 * t + phase) + 0.02 * torch.randn(n, LENGTH)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, 32), nn.LeakyReLU(0.2), nn.Linear(32, LENGTH))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, trace):
        return self.net(trace)


torch.manual_seed(30)
generator, discriminator = Generator(), Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss = nn.BCEWithLogitsLoss()
valid, fake = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for step in range(120):
    traces = real_traces(BATCH)

    # -----------------
    #  Train Generator
    # -----------------
    optimizer_G.zero_grad()
    gen_traces = generator(torch.randn(BATCH, LATENT))
    g_loss = adversarial_loss(discriminator(gen_traces), valid)
    g_loss.backward()
    optimizer_G.step()

    # ---------------------
    #  Train Discriminator
    # ---------------------
    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(traces), valid)
    fake_loss = adversarial_loss(discriminator(gen_traces.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()

    if step % 30 == 0:
        spread = gen_traces.std(0).mean().item()
        print(f"step {step:3d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  spread {spread:.3f}")
