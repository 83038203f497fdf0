"""Face embeddings with a learnable-centre loss.

The centres are parameters of the criterion and are trained by the same optimizer
as the network, on each mini-batch's loss.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 32), nn.PReLU(), nn.Linear(32, dim))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


class CentreLoss(nn.Module):
    def __init__(self, people, dim=6, scale=8.0, pull=0.2):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(people, dim))
        self.scale, self.pull = scale, pull

    def forward(self, e, who):
        c = F.normalize(self.centres, dim=-1)
        cosine = e @ c.t()
        identity = F.cross_entropy(self.scale * cosine, who)
        return identity + self.pull * (e - c[who]).pow(2).sum(-1).mean()


def faces(people, n=30):
    prototypes = torch.randn(people, 20, generator=torch.Generator().manual_seed(0))
    while True:
        who = torch.randint(0, people, (n,))
        yield prototypes[who] + 0.5 * torch.randn(n, 20), who


def train(people=7, steps=15):
    model = Embedder()
    criterion = CentreLoss(people)
    optimizer = torch.optim.SGD(
        [{"params": model.parameters(), "lr": 0.1},
         {"params": criterion.parameters(), "lr": 0.5}])
    stream = faces(people)
    for step in range(steps):
        x, who = next(stream)
        optimizer.zero_grad()
        loss = criterion(model(x), who)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, f"{loss.item():.4f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(18)
    train()
