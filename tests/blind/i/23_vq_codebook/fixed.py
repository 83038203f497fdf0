"""VQ-VAE on short signals: encoder, nearest entry of a codebook, decoder."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    """Straight-through estimator; codebook loss moves the entries to the codes, commitment loss the codes to the entries."""

    def __init__(self, entries, dim, commitment=0.25):
        super().__init__()
        self.codebook = nn.Embedding(entries, dim)
        nn.init.uniform_(self.codebook.weight, -0.5, 0.5)
        self.commitment = commitment

    def forward(self, z):
        distance = torch.cdist(z, self.codebook.weight)
        index = distance.argmin(1)
        quantized = self.codebook(index)
        codebook_loss = F.mse_loss(quantized, z.detach())
        commitment_loss = F.mse_loss(z, quantized.detach())
        quantized = z + (quantized - z).detach()
        return quantized, codebook_loss + self.commitment * commitment_loss, index


class VQVAE(nn.Module):
    def __init__(self, inputs=16, dim=4, entries=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, dim))
        self.quantizer = Quantizer(entries, dim)
        self.decoder = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, inputs))

    def forward(self, x):
        quantized, vq_loss, index = self.quantizer(self.encoder(x))
        return self.decoder(quantized), vq_loss, index


def signals(n, shapes):
    which = torch.randint(len(shapes), (n,))
    return shapes[which] + 0.1 * torch.randn(n, shapes.shape[1])


def main():
    torch.manual_seed(84)
    shapes = torch.randn(8, 16)
    model = VQVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(1, 201):
        x = signals(64, shapes)
        output, vq_loss, index = model(x)
        reconstruction = F.mse_loss(output, x)
        loss = reconstruction + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step}: reconstruction {reconstruction.item():.4f}  vq {vq_loss.item():.4f}  entries in use {len(index.unique())}")


if __name__ == "__main__":
    main()
