"""One map from two surveys of unknown quality: the noise level of each is learned with the map."""
import torch
import torch.nn as nn

torch.manual_seed(28)


def surface(p):
    return torch.sin(3 * p[:, 0]) * torch.cos(2 * p[:, 1])


spots = torch.rand(300, 2) * 2 - 1
which = torch.randint(2, (300,))
sigma = torch.tensor([0.05, 0.6])
height = surface(spots) + sigma[which] * torch.randn(300)

landscape = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
log_noise = nn.Parameter(torch.zeros(2))
opt = torch.optim.Adam(
    [{"params": landscape.parameters(), "lr": 0.01}, {"params": [log_noise], "lr": 0.05}],
)

for step in range(60):
    rows = torch.randint(300, (100,))
    residual = height[rows] - landscape(spots[rows]).squeeze(1)
    survey = which[rows]
    precision = torch.exp(-2 * log_noise)
    # negative log likelihood of a normal distribution
    nll = (0.5 * precision[survey] * residual**2 + log_noise[survey]).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    if step % 20 == 19:
        print(step + 1, f"nll {nll.item():.3f}", "noise", [round(s, 3) for s in log_noise.exp().tolist()])
