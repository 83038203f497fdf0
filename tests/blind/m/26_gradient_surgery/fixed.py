"""Multi-task learning with gradient surgery (PCGrad) on molecule descriptors.

The trunk gets the sum of the tasks' gradients after each one has been projected
off those it conflicts with; every head gets the gradient of its own task.
"""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(44)

TASKS = ("solubility", "melting", "toxic")


def molecules(count):
    x = torch.randn(count, 14)
    return x, {
        "solubility": x[:, 0] - x[:, 1] * x[:, 2],
        "melting": -x[:, 0] + 0.5 * x[:, 4] ** 2,
        "toxic": (x[:, 2] + x[:, 5] > 0).float(),
    }


class Descriptors(nn.Module):
    def __init__(self, width=28):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(14, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, x):
        shared = self.trunk(x)
        return {task: head(shared).squeeze(1) for task, head in self.heads.items()}


def task_losses(out, y):
    return {
        "solubility": F.mse_loss(out["solubility"], y["solubility"]),
        "melting": F.mse_loss(out["melting"], y["melting"]),
        "toxic": F.binary_cross_entropy_with_logits(out["toxic"], y["toxic"]),
    }


def flat(grads):
    return torch.cat([g.flatten() for g in grads])


def project(vectors):
    """Take from each vector its component against the others."""
    result = []
    for i, v in enumerate(vectors):
        v = v.clone()
        for j, other in enumerate(vectors):
            dot = v @ other
            if j != i and dot < 0:
                v -= dot / other.dot(other) * other
        result.append(v)
    return torch.stack(result).sum(0)


def surgery(model, losses):
    trunk = list(model.trunk.parameters())
    per_task = []
    for number, (task, loss) in enumerate(losses.items()):
        own = list(model.heads[task].parameters())
        last = number == len(losses) - 1
        grads = torch.autograd.grad(loss, trunk + own, retain_graph=not last)
        per_task.append(flat(grads[: len(trunk)]))
        for p, g in zip(own, grads[len(trunk):]):
            p.grad = g
    whole = project(per_task)
    at = 0
    for p in trunk:
        p.grad = whole[at : at + p.numel()].view_as(p).clone()
        at += p.numel()


def main():
    x, y = molecules(256)
    model = Descriptors()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(5):
        for rows in torch.randperm(len(x)).split(64):
            losses = task_losses(model(x[rows]), {task: v[rows] for task, v in y.items()})
            surgery(model, losses)
            opt.step()
        print(epoch, {task: round(value.item(), 3) for task, value in losses.items()})


if __name__ == "__main__":
    main()
