"""Learn the vector field of a damped pendulum from measured trajectories.

The model is rolled out with Heun's method from the first measurement and the
whole predicted trajectory is compared with the measured one.
"""
import torch
import torch.nn as nn

torch.manual_seed(13)

DT = 0.1
STEPS = 15
DAMPING = 0.25


def true_field(state):
    angle, speed = state[..., 0], state[..., 1]
    return torch.stack([speed, -torch.sin(angle) - DAMPING * speed], dim=-1)


def simulate(n):
    """Ground truth with small internal steps."""
    state = torch.stack([2.0 * torch.rand(n) - 1.0, torch.randn(n) * 0.5], dim=1)
    out = [state]
    for _ in range(STEPS):
        for _ in range(10):
            state = state + DT / 10 * true_field(state)
        out.append(state)
    return torch.stack(out, dim=1)


class Field(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 2),
        )

    def forward(self, state):
        return self.net(state)


class Rollout(nn.Module):
    def __init__(self, field, dt):
        super().__init__()
        self.field = field
        self.dt = dt

    def step(self, state):
        k1 = self.field(state)
        k2 = self.field(state + self.dt * k1)
        return state + 0.5 * self.dt * (k1 + k2)

    def forward(self, start, n_steps):
        traj = torch.zeros(start.shape[0], n_steps + 1, start.shape[1])
        traj[:, 0] = start
        for t in range(n_steps):
            state = traj[:, t]
            traj[:, t + 1] = self.step(state)
        return traj


def main():
    measured = simulate(128)
    measured = measured + 0.01 * torch.randn_like(measured)
    held_out = simulate(32)

    model = Rollout(Field(), DT)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.MSELoss()

    for it in range(100):
        pick = torch.randint(0, len(measured), (32,))
        batch = measured[pick]
        pred = model(batch[:, 0], STEPS)
        loss = criterion(pred[:, 1:], batch[:, 1:])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if it % 20 == 0:
            print(f"iter {it:3d}  trajectory mse {loss.item():.5f}")

    with torch.no_grad():
        error = (model(held_out[:, 0], STEPS) - held_out).pow(2).mean()
    print(f"held-out mse {error.item():.5f}")


if __name__ == "__main__":
    main()
