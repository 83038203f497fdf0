"""Joint depth, slope and material prediction for a planetary rover.

The three losses are combined with homoscedastic uncertainty weighting: the
log-variances of the tasks are learned by minimising the combined loss together
with the network.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class UncertaintyWeighting(nn.Module):
    """sum_i exp(-s_i) * L_i + s_i with one learned log-variance s_i per task."""

    def __init__(self, tasks):
        super().__init__()
        self.tasks = list(tasks)
        self.log_vars = nn.Parameter(torch.zeros(len(self.tasks)))

    def weights(self):
        return {t: torch.exp(-s) for t, s in zip(self.tasks, self.log_vars)}

    def forward(self, losses):
        weights = self.weights()
        weighted = sum(weights[t] * losses[t] for t in self.tasks)
        return weighted + self.log_vars.sum()


class RoverNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 48), nn.GELU(), nn.Linear(48, 32), nn.GELU())
        self.depth = nn.Linear(32, 1)
        self.slope = nn.Linear(32, 2)
        self.material = nn.Linear(32, 4)

    def forward(self, x):
        z = self.trunk(x)
        return self.depth(z).squeeze(-1), self.slope(z), self.material(z)


def make_patches(n=512):
    x = torch.randn(n, 16)
    depth = 3.0 * torch.sin(x[:, 0]) + 1.5 * torch.randn(n)
    slope = 0.3 * x[:, 1:3] * x[:, 3:5] + 0.05 * torch.randn(n, 2)
    material = (x[:, 5:9] + 0.5 * torch.randn(n, 4)).argmax(dim=1)
    return x, depth, slope, material


def task_losses(net, x, depth, slope, material):
    d, s, m = net(x)
    return {
        "depth": F.mse_loss(d, depth),
        "slope": F.mse_loss(s, slope),
        "material": F.cross_entropy(m, material),
    }


def main():
    torch.manual_seed(1969)
    x, depth, slope, material = make_patches()
    net = RoverNet()
    weighting = UncertaintyWeighting(["depth", "slope", "material"])
    optimizer = torch.optim.Adam([
        {"params": net.parameters(), "lr": 3e-3},
        {"params": weighting.parameters(), "lr": 2e-2},
    ])

    for step in range(100):
        idx = torch.randint(0, len(x), (64,))
        losses = task_losses(net, x[idx], depth[idx], slope[idx], material[idx])
        loss = weighting(losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            raw = "  ".join(f"{k} {v.item():.4f}" for k, v in losses.items())
            w = "  ".join(f"{v:.2f}" for v in weighting.weights().values())
            print(f"step {step + 1:3d}  {raw}  weights {w}")


if __name__ == "__main__":
    main()
