import torch
import torch.nn as nn

# Small GAN that makes single heartbeats (64 samples each)

torch.manual_seed(0)

BEAT_LEN = 64
Z_DIM = 12
batch_size = 48
num_steps = 120


def real_beats(n):
    t = torch.linspace(0, 1, BEAT_LEN).unsqueeze(0)
    shift = 0.02 * torch.randn(n, 1)
    height = 1 + 0.1 * torch.randn(n, 1)

    def bump(center, width, amp):
        return amp * torch.exp(-((t - center - shift) / width) ** 2)

    p = bump(0.25, 0.04, 0.15)
    q = bump(0.40, 0.012, -0.12)
    r = bump(0.44, 0.015, 1.0)
    s = bump(0.48, 0.012, -0.2)
    t_wave = bump(0.70, 0.06, 0.3)
    return height * (p + q + r + s + t_wave) + 0.01 * torch.randn(n, BEAT_LEN)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z_DIM, 32 * 16)
        self.up = nn.Sequential(
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.ConvTranspose1d(32, 16, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose1d(16, 1, 4, stride=2, padding=1),
        )

    def forward(self, z):
        h = self.fc(z).view(-1, 32, 16)
        return self.up(h).squeeze(1)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(16, 32, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(32 * 16, 1),
        )

    def forward(self, x):
        return self.net(x.unsqueeze(1)).squeeze(1)


G = Generator()
D = Discriminator()
criterion = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-4, betas=(0.5, 0.999))

ones = torch.ones(batch_size)
zeros = torch.zeros(batch_size)

for step in range(num_steps):
    # ---- discriminator: real beats -> 1, generated beats -> 0
    real = real_beats(batch_size)
    z = torch.randn(batch_size, Z_DIM)
    fake = G(z)

    opt_d.zero_grad()
    loss_real = criterion(D(real), ones)
    loss_fake = criterion(D(fake), zeros)
    loss_d = loss_real + loss_fake
    loss_d.backward()
    opt_d.step()

    # ---- generator: the updated discriminator should call its beats real
    opt_g.zero_grad()
    loss_g = criterion(D(fake), ones)
    loss_g.backward()
    opt_g.step()

    if step % 20 == 0:
        print("step %3d | D %.4f | G %.4f" % (step, loss_d.item(), loss_g.item()))

with torch.no_grad():
    G.eval()
    beats = G(torch.randn(200, Z_DIM))
    print("mean R peak: %.3f" % beats.max(dim=1).values.mean().item())
