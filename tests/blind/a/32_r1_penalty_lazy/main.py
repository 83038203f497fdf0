"""Energy-based classifier with a lazily applied R1 gradient penalty on real samples."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from penalty import r1

R1_EVERY, R1_GAMMA = 2, 2.0


class Disc(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 24), nn.Softplus(), nn.Linear(24, 1))

    def forward(self, x):
        return self.f(x).squeeze(1)


def moons(n=64):
    t = 3.1416 * torch.rand(n)
    up = torch.rand(n) < 0.5
    x = torch.stack([torch.where(up, t.cos(), 1 - t.cos()), torch.where(up, t.sin(), 0.5 - t.sin())], 1)
    return x + 0.05 * torch.randn(n, 2)


def main():
    torch.manual_seed(32)
    loader = DataLoader(TensorDataset(moons()), batch_size=16, shuffle=True)
    disc = Disc()
    opt = torch.optim.Adam(disc.parameters(), lr=1e-2, betas=(0.5, 0.99))
    bce = nn.functional.binary_cross_entropy_with_logits
    step = 0
    for epoch in range(5):
        sums = {"real": 0.0, "noise": 0.0, "r1": 0.0}
        for (real,) in loader:
            noise = 8 * torch.rand_like(real) - 3.5
            real.requires_grad_(True)
            real_score, noise_score = disc(real), disc(noise)
            loss_real = bce(real_score, torch.ones(len(real)))
            loss_noise = bce(noise_score, torch.zeros(len(noise)))
            loss = loss_real + loss_noise
            if step % R1_EVERY == 0:
                reg = r1(real_score, real)
                loss = loss + 0.5 * R1_GAMMA * R1_EVERY * reg
                sums["r1"] += reg.item()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            sums["real"] += loss_real.item()
            sums["noise"] += loss_noise.item()
        print(f"epoch {epoch}: " + " ".join(f"{k} {v / len(loader):.4f}" for k, v in sums.items()))


if __name__ == "__main__":
    main()
