"""Learn pendulum dynamics by unrolling a residual network with Euler steps."""
import numpy as np
import torch
from torch import nn


class Dynamics(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, state):
        return self.net(state)


def rollout(model, start, steps, dt):
    """Return the trajectory, shape (steps + 1, batch, 2)."""
    traj = [start]
    for t in range(steps):
        traj.append(traj[t] + dt * model(traj[t]))
    return torch.stack(traj)


def simulate(n, steps, dt, rng):
    state = rng.uniform(-1.5, 1.5, size=(n, 2))
    path = [state]
    for _ in range(steps):
        th, om = state[:, 0], state[:, 1]
        state = state + dt * np.stack([om, -np.sin(th) - 0.1 * om], axis=1)
        path.append(state)
    return torch.tensor(np.stack(path), dtype=torch.float32)


def train(model, paths, dt, epochs, batch):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[6], gamma=0.3)
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        order = torch.randperm(paths.size(1))
        total = 0.0
        for idx in order.split(batch):
            target = paths[:, idx]
            pred = rollout(model, target[0], steps=len(target) - 1, dt=dt)
            loss = criterion(pred[1:], target[1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        scheduler.step()
        print(f"epoch {epoch}: rollout mse {total / paths.size(1):.5f}")


if __name__ == "__main__":
    torch.manual_seed(36)
    rng = np.random.default_rng(36)
    dt = 0.15
    paths = simulate(32, 10, dt, rng)
    model = Dynamics()
    train(model, paths, dt, epochs=8, batch=8)
    with torch.no_grad():
        test = simulate(8, 20, dt, rng)
        err = (rollout(model, test[0], 20, dt)[-1] - test[-1]).norm(dim=1).mean()
    print(f"final distance after 20 steps: {err.item():.4f}")
