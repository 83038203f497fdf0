"""Vector-quantised autoencoder of small binary patterns."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.table = nn.Embedding(codes, width)
        nn.init.normal_(self.table.weight)

    def forward(self, z):
        distance = (z[:, None] - self.table.weight[None]).pow(2).sum(-1)
        index = distance.argmin(1)
        nearest = self.table(index)
        codebook_loss = F.mse_loss(nearest, z.detach())
        # straight-through: forward the code, hand the gradient on to z
        quantized = z + (nearest - z).detach()
        return quantized, codebook_loss, index


class VQ(nn.Module):
    def __init__(self, pixels=36, width=8, codes=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 64), nn.ReLU(), nn.Linear(64, width), nn.LayerNorm(width))
        self.quantizer = Quantizer(codes, width)
        self.decoder = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, pixels))

    def forward(self, x):
        quantized, codebook_loss, index = self.quantizer(self.encoder(x))
        return self.decoder(quantized), codebook_loss, index


def patterns(count, kinds=12, flip=0.05):
    prototypes = (torch.rand(kinds, 36) < 0.4).float()
    picked = prototypes[torch.randint(kinds, (count,))]
    noise = (torch.rand(count, 36) < flip).float()
    return (picked + noise) % 2


torch.manual_seed(35)
data = patterns(512)
model = VQ()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    bce = used = 0
    for x in data[torch.randperm(512)].split(64):
        logits, codebook_loss, index = model(x)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x)
        loss = reconstruction + codebook_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bce += reconstruction.item() / 8
        used = max(used, len(index.unique()))
    if epoch % 3 == 2:
        print(f"epoch {epoch}: reconstruction {bce:.4f}, codes in use {used}")
