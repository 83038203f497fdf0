"""SimSiam on noisy two-view vectors (Chen & He, 2021)."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    dim: int = 20
    width: int = 64
    embed: int = 16
    epochs: int = 5
    batch: int = 64
    lr: float = 0.05
    seed: int = 17


def D(p, z):
    """Negative cosine similarity; z is the target: no gradient goes into that branch."""
    p = nn.functional.normalize(p, dim=1)
    z = nn.functional.normalize(z.detach(), dim=1)
    return -(p * z).sum(dim=1).mean()


class SimSiam(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.f = nn.Sequential(
            nn.Linear(cfg.dim, cfg.width), nn.BatchNorm1d(cfg.width), nn.ReLU(),
            nn.Linear(cfg.width, cfg.embed), nn.BatchNorm1d(cfg.embed, affine=False),
        )
        self.h = nn.Sequential(nn.Linear(cfg.embed, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, cfg.embed))


def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return keep * x + 0.3 * torch.randn_like(x)


def main(cfg):
    torch.manual_seed(cfg.seed)
    centres = 2 * torch.randn(6, cfg.dim)
    data = centres[torch.randint(6, (512,))] + 0.5 * torch.randn(512, cfg.dim)
    net = SimSiam(cfg)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)

    for epoch in range(cfg.epochs):
        sims, spread = [], []
        for index in torch.randperm(len(data)).split(cfg.batch):
            x = data[index]
            z1, z2 = net.f(augment(x)), net.f(augment(x))
            p1, p2 = net.h(z1), net.h(z2)

            optimizer.zero_grad()
            # symmetrised loss, one half at a time
            first = D(p1, z2) / 2
            first.backward()
            second = D(p2, z1) / 2
            second.backward()
            optimizer.step()

            sims.append(first.item() + second.item())
            spread.append(nn.functional.normalize(z1.detach(), dim=1).std(0).mean().item())
        print(f"epoch {epoch}: loss {sum(sims) / len(sims):.4f}, std of embeddings {sum(spread) / len(spread):.4f}")


if __name__ == "__main__":
    main(Config())
