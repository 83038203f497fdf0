"""Swapped prediction between two augmented views (a tiny SwAV) for accelerometer windows."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1021)

N_PROTO, DIM, TEMP = 10, 16, 0.1

encoder = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, DIM))
prototypes = nn.Linear(DIM, N_PROTO, bias=False)
with torch.no_grad():
    prototypes.weight.copy_(F.normalize(prototypes.weight, dim=1))

optimizer = torch.optim.SGD([*encoder.parameters(), *prototypes.parameters()], lr=0.1, momentum=0.9)


@torch.no_grad()
def sinkhorn(scores, rounds=3, eps=0.05):
    q = torch.exp(scores / eps).t()
    q /= q.sum()
    for _ in range(rounds):
        q /= q.sum(1, keepdim=True) * q.shape[0]
        q /= q.sum(0, keepdim=True) * q.shape[1]
    return (q * q.shape[1]).t()


def augment(x):
    scale = 0.8 + 0.4 * torch.rand(len(x), 1)
    return scale * x + 0.1 * torch.randn_like(x)


def cross_entropy(target, scores):
    return -(target * F.log_softmax(scores / TEMP, dim=1)).sum(1).mean()


t = torch.linspace(0, 6.28, 24)
activity = torch.randint(1, 5, (256, 1)).float()
windows = torch.sin(activity * t + 6.28 * torch.rand(256, 1))

for step in range(40):
    x = windows[torch.randint(0, len(windows), (64,))]
    z_a = F.normalize(encoder(augment(x)), dim=1)
    z_b = F.normalize(encoder(augment(x)), dim=1)
    scores_a, scores_b = prototypes(z_a), prototypes(z_b)

    with torch.no_grad():
        q_a, q_b = sinkhorn(scores_a), sinkhorn(scores_b)
        # the prototypes live on the unit sphere
        prototypes.weight.copy_(F.normalize(prototypes.weight, dim=1))

    loss = 0.5 * (cross_entropy(q_a, scores_b) + cross_entropy(q_b, scores_a))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if step % 10 == 0:
        print(f"step {step:3d}  swapped loss {loss.item():.4f}")
