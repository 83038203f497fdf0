"""Neural ODE (explicit Euler) for a prey-predator system."""
import torch
import torch.nn as nn

torch.manual_seed(6)

DT, STEPS = 0.1, 15


def true_field(p):
    prey, predator = p[:, 0], p[:, 1]
    return torch.stack([prey * (1 - predator), predator * (prey - 1)], dim=1)


def integrate(f, start):
    """All states from `start` on, shape (STEPS + 1, batch, 2)."""
    path = torch.zeros(STEPS + 1, *start.shape)
    path[0] = start
    for k in range(STEPS):
        path[k + 1] = path[k] + DT * f(path[k])
    return path


field = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
start = 0.5 + torch.rand(20, 2)
with torch.no_grad():
    observed = integrate(true_field, start)

opt = torch.optim.Adam(field.parameters(), lr=0.01)
for it in range(25):
    opt.zero_grad()
    predicted = integrate(field, start)
    misfit = (predicted - observed).abs().mean()
    misfit.backward()
    opt.step()
    if it % 6 == 0:
        print(it, misfit.item())
