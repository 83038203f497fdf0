"""SwAV with a feature queue on satellite tiles (16-dim descriptors stand in for images).

 * prototypes are put back on the sphere before every forward
 * codes come from Sinkhorn-Knopp over the queue and the batch, no gradient
 * the prototypes are frozen for the first steps, by dropping their gradient
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)
DIM, PROTOTYPES, QUEUE, BATCH, FREEZE = 8, 10, 64, 16, 4


@torch.no_grad()
def sinkhorn(scores, eps=0.1, iterations=3):
    Q = torch.exp(scores / eps).t()
    Q /= Q.sum()
    for _ in range(iterations):
        Q /= Q.sum(dim=1, keepdim=True)
        Q /= Q.shape[0]
        Q /= Q.sum(dim=0, keepdim=True)
        Q /= Q.shape[1]
    return (Q * Q.shape[1]).t()


class SwAV(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, DIM))
        self.prototypes = nn.Linear(DIM, PROTOTYPES, bias=False)

    def forward(self, x):
        z = F.normalize(self.encoder(x), dim=1)
        return z, self.prototypes(z)


class Trainer:
    def __init__(self):
        self.model = SwAV()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.queue = torch.zeros(2, QUEUE, DIM)
        self.filled = 0

    def views(self):
        tile = torch.randn(BATCH, 16) + 2 * torch.randint(0, 3, (BATCH, 1))
        return [tile + 0.2 * torch.randn_like(tile) for _ in range(2)]

    def step(self, it):
        with torch.no_grad():
            w = self.model.prototypes.weight
            w.copy_(F.normalize(w, dim=1))

        a, b = self.views()
        z, scores = self.model(torch.cat([a, b]))
        z = z.detach()
        loss = 0
        for view in range(2):
            own = slice(view * BATCH, (view + 1) * BATCH)
            other = slice((1 - view) * BATCH, (2 - view) * BATCH)
            with torch.no_grad():
                out = scores[own].detach()
                if self.filled >= QUEUE:
                    out = torch.cat([self.queue[view] @ self.model.prototypes.weight.t(), out])
                self.queue[view, BATCH:] = self.queue[view, :-BATCH].clone()
                self.queue[view, :BATCH] = z[own]
                codes = sinkhorn(out)[-BATCH:]
            loss += -(codes * F.log_softmax(scores[other] / 0.1, dim=1)).sum(1).mean()
        self.filled += BATCH
        loss = loss / 2

        self.opt.zero_grad()
        loss.backward()
        if it < FREEZE:
            for name, p in self.model.named_parameters():
                if "prototypes" in name:
                    p.grad = None
        self.opt.step()
        return loss.item()


trainer = Trainer()
for it in range(20):
    value = trainer.step(it)
    if it % 5 == 0:
        print(f"it {it} loss {value:.4f}")
