"""Semi-supervised classification of two rings with virtual adversarial training."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from fixed_vat import VATLoss


def rings(count):
    label = torch.arange(count) % 2
    angle = 6.2832 * torch.rand(count)
    radius = torch.where(label == 0, 0.6, 1.4) + 0.1 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


def main():
    torch.manual_seed(26)
    x, y = rings(400)
    labelled = torch.zeros(400)
    labelled[:32] = 1.0
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    vat_loss = VATLoss(xi=1e-1, eps=0.15)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        supervised = smooth = 0.0
        for rows in torch.randperm(400).split(80):
            logits = model(x[rows])
            vat = vat_loss(model, x[rows], logits)
            per_row = F.cross_entropy(logits, y[rows], reduction="none")
            known = labelled[rows]
            ce = (per_row * known).sum() / known.sum().clamp(min=1)
            loss = ce + vat
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            supervised += ce.item() / 5
            smooth += vat.item() / 5
        with torch.no_grad():
            accuracy = (model(x).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch}: supervised {supervised:.4f} vat {smooth:.5f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
