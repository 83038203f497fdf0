"""Price, rent and vacancy from one trunk; conflicting gradients are projected (PCGrad)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(63)


class MultiTask(nn.Module):
    def __init__(self, n_in=8, width=24, tasks=("price", "rent", "vacancy")):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Linear(width, 1) for t in tasks})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def project(grads):
    """For every pair with a negative inner product, drop the conflicting part."""
    out = []
    for i, g in enumerate(grads):
        g = g.clone()
        for j, other in enumerate(grads):
            dot = g @ other
            if i != j and dot < 0:
                g -= dot / other.norm().pow(2) * other
        out.append(g)
    return torch.stack(out).sum(0)


def write_grads(params, flat):
    at = 0
    for p in params:
        p.grad = flat[at:at + p.numel()].view_as(p).clone()
        at += p.numel()


features = torch.randn(200, 8)
targets = {
    "price": features @ torch.randn(8) + 0.1 * torch.randn(200),
    "rent": torch.tanh(features @ torch.randn(8)) + 0.1 * torch.randn(200),
    "vacancy": (features[:, 0] * features[:, 1] > 0).float(),
}

model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
trunk_params = list(model.trunk.parameters())

for step in range(30):
    idx = torch.randint(0, 200, (64,))
    pred = model(features[idx])
    losses = [
        F.mse_loss(pred["price"], targets["price"][idx]),
        F.mse_loss(pred["rent"], targets["rent"][idx]),
        F.binary_cross_entropy_with_logits(pred["vacancy"], targets["vacancy"][idx]),
    ]

    per_task = []
    for loss in losses:
        g = torch.autograd.grad(loss, trunk_params, retain_graph=True)
        per_task.append(torch.cat([x.flatten() for x in g]))

    opt.zero_grad()
    sum(losses).backward()
    write_grads(trunk_params, project(per_task))
    opt.step()

    if step % 10 == 0:
        print(step, [round(loss.item(), 3) for loss in losses])
