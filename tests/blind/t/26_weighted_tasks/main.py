"""Three regression targets of a machine (wear, heat, noise) with learned task weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

TASKS = ["wear", "heat", "noise"]


def machine_data(n=320):
    g = torch.Generator().manual_seed(17)
    x = torch.randn(n, 8, generator=g)
    wear = x[:, 0] * x[:, 1] + 0.1 * torch.randn(n, generator=g)
    heat = 4 * torch.tanh(x[:, 2] - x[:, 3]) + 0.5 * torch.randn(n, generator=g)
    noise = (x[:, 4:].sum(1) > 0).float() + 0.2 * torch.randn(n, generator=g)
    return TensorDataset(x, torch.stack([wear, heat, noise], dim=1))


class MachineNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.heads = nn.ModuleList(nn.Linear(hidden, 1) for _ in TASKS)

    def forward(self, x):
        h = self.trunk(x)
        return [head(h).squeeze(-1) for head in self.heads]


class UncertaintyLoss(nn.Module):
    """Homoscedastic uncertainty weighting: sum of L_i / (2 sigma_i^2) + log sigma_i."""

    def __init__(self, n_tasks):
        super().__init__()
        self.log_sigma = nn.Parameter(torch.zeros(n_tasks))

    def forward(self, outputs, targets):
        losses = [F.mse_loss(out, targets[:, i]) for i, out in enumerate(outputs)]
        per_task = torch.tensor([loss.item() for loss in losses])
        total = 0.5 * per_task * torch.exp(-2 * self.log_sigma) + self.log_sigma
        return total.sum(), per_task


def main():
    torch.manual_seed(0)
    loader = DataLoader(machine_data(), batch_size=32, shuffle=True)
    model = MachineNet()
    criterion = UncertaintyLoss(len(TASKS))
    optimizer = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=1e-2)

    for epoch in range(6):
        running = torch.zeros(len(TASKS))
        objective = 0.0
        for x, targets in loader:
            optimizer.zero_grad()
            loss, per_task = criterion(model(x), targets)
            loss.backward()
            optimizer.step()
            running += per_task
            objective += loss.item()
        shown = "  ".join(f"{t} {v:.3f}" for t, v in zip(TASKS, (running / len(loader)).tolist()))
        print(f"epoch {epoch}: objective {objective / len(loader):.4f}  {shown}")

    sigma = criterion.log_sigma.exp().tolist()
    print("sigma:", "  ".join(f"{t} {s:.3f}" for t, s in zip(TASKS, sigma)))


if __name__ == "__main__":
    main()
