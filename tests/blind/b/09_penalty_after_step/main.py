"""Autoencoder with a sparsity penalty on the code."""
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(12, 8), nn.ReLU())
        self.dec = nn.Linear(8, 12)

    def forward(self, x):
        code = self.enc(x)
        return self.dec(code), code


def main():
    torch.manual_seed(9)
    model = Autoencoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=24)
    beta = 0.02
    for step in range(24):
        batch = torch.rand(16, 12)
        optimizer.zero_grad()
        recon, code = model(batch)
        recon_loss = nn.functional.mse_loss(recon, batch)
        recon_loss.backward()
        optimizer.step()

        _, code = model(batch)
        sparsity = beta * code.abs().mean()
        sparsity.backward()
        scheduler.step()
        if step % 6 == 0:
            print(f"step {step}: recon {recon_loss.item():.4f} sparsity {sparsity.item():.5f}")


if __name__ == "__main__":
    main()
