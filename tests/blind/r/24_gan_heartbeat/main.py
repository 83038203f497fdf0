import torch
import torch.nn as nn

torch.manual_seed(1234)

# hyperparameters
latent_dim = 8
seq_len = 48
batch_size = 32
epochs = 5
g_update_factor = 2      # updates of the generator for each update of the discriminator


def real_heartbeats(n):
    t = torch.linspace(-1, 1, seq_len)
    centre = 0.2 * torch.randn(n, 1)
    height = 1 + 0.1 * torch.randn(n, 1)
    peak = height * torch.exp(-80 * (t - centre) ** 2)
    wave = 0.25 * torch.exp(-20 * (t - centre - 0.4) ** 2)
    return peak + wave + 0.02 * torch.randn(n, seq_len)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(latent_dim, 64),
            nn.LeakyReLU(0.2),
            nn.Linear(64, 64),
            nn.LeakyReLU(0.2),
            nn.Linear(64, seq_len),
        )

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(seq_len, 64),
            nn.LeakyReLU(0.2),
            nn.Linear(64, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.model(x)


netG = Generator()
netD = Discriminator()
optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce_loss = nn.BCELoss()

dataset = real_heartbeats(320)
loader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)

for epoch in range(epochs):
    for real_batch in loader:
        bsz = real_batch.size(0)
        ones = torch.ones(bsz)
        zeros = torch.zeros(bsz)

        # train the generator
        for _ in range(g_update_factor):
            z = torch.randn(bsz, latent_dim)
            fake_batch = netG(z)
            g_loss = bce_loss(netD(fake_batch).view(-1), ones)
            optG.zero_grad()
            g_loss.backward()
            optG.step()

        # train the discriminator
        real_scores = netD(real_batch).view(-1)
        fake_scores = netD(fake_batch).view(-1)
        d_loss = bce_loss(real_scores, ones) + bce_loss(fake_scores, zeros)
        optD.zero_grad()
        d_loss.backward()
        optD.step()

    print("epoch {} | g_loss {:.4f} | d_loss {:.4f} | D(real) {:.3f} | D(fake) {:.3f}".format(
        epoch + 1, g_loss.item(), d_loss.item(),
        real_scores.mean().item(), fake_scores.mean().item()))

with torch.no_grad():
    samples = netG(torch.randn(3, latent_dim))
print("peak of the samples:", [round(v, 3) for v in samples.max(dim=1).values.tolist()])
