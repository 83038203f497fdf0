"""One-class anomaly detection: codes are pulled to a running centre (module-level state)."""
import torch
from torch import nn

DECAY = 0.9
CENTER = torch.zeros(4)


class AutoEncoder(nn.Module):
    def __init__(self, d=10, code=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 12), nn.LeakyReLU(0.1), nn.Linear(12, code))
        self.dec = nn.Sequential(nn.Linear(code, 12), nn.LeakyReLU(0.1), nn.Linear(12, d))

    def forward(self, x):
        z = self.enc(x)
        return z, self.dec(z)


def compactness(z):
    return ((z - CENTER) ** 2).sum(dim=1)


def update_center(z):
    global CENTER
    CENTER = DECAY * CENTER + (1 - DECAY) * z.detach().mean(dim=0)


def anomaly_scores(model, x):
    model.eval()
    with torch.no_grad():
        z, rec = model(x)
        score = compactness(z) + ((rec - x) ** 2).mean(dim=1)
    model.train()
    return score


torch.manual_seed(9)
basis = torch.randn(3, 10)
normal = torch.randn(48, 3) @ basis + 0.1 * torch.randn(48, 10)
odd = 4.0 * torch.randn(8, 10)

model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    perm = torch.randperm(len(normal))
    running = {"rec": 0.0, "svdd": 0.0}
    for idx in perm.split(12):
        x = normal[idx]
        z, rec = model(x)
        rec_loss = nn.functional.mse_loss(rec, x)
        svdd_loss = compactness(z).mean()
        loss = rec_loss + 0.05 * svdd_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_center(z)
        running["rec"] += rec_loss.item() / 4
        running["svdd"] += svdd_loss.item() / 4
    gap = anomaly_scores(model, odd).mean() - anomaly_scores(model, normal).mean()
    print(f"epoch {epoch} rec {running['rec']:.4f} svdd {running['svdd']:.4f} gap {gap.item():.3f}")
