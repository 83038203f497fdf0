"""Learn predator / prey dynamics by rolling a small network forward in time."""
import torch
import torch.nn as nn

DT = 0.1
STEPS = 15
EPOCHS = 10
BATCH = 32
LR = 0.01


def lotka_volterra(state):
    x, y = state[:, 0], state[:, 1]
    return torch.stack([1.1 * x - 0.4 * x * y, 0.1 * x * y - 0.4 * y], dim=1)


def simulate(n, seed, substeps=10):
    g = torch.Generator().manual_seed(seed)
    state = torch.stack([2 + 6 * torch.rand(n, generator=g), 1 + 3 * torch.rand(n, generator=g)], dim=1)
    out = [state]
    for _ in range(STEPS):
        for _ in range(substeps):
            state = state + DT / substeps * lotka_volterra(state)
        out.append(state)
    return torch.stack(out, dim=1)


class Field(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 2),
        )

    def forward(self, state):
        return self.net(state)


class Rollout(nn.Module):
    def __init__(self, field, dt):
        super().__init__()
        self.field = field
        self.dt = dt

    def forward(self, start, steps):
        traj = [start]
        for t in range(steps):
            traj.append(traj[t] + self.dt * self.field(traj[t]))
        return torch.stack(traj, dim=1)


def main():
    torch.manual_seed(1)
    train = simulate(128, seed=10)
    test = simulate(32, seed=11)
    mean, std = train.mean((0, 1)), train.std((0, 1))
    train, test = (train - mean) / std, (test - mean) / std

    model = Rollout(Field(), DT)
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    criterion = nn.MSELoss()

    for epoch in range(EPOCHS):
        order = torch.randperm(len(train))
        total = 0.0
        for i in range(0, len(train), BATCH):
            true = train[order[i:i + BATCH]]
            optimizer.zero_grad()
            pred = model(true[:, 0], STEPS)
            loss = criterion(pred, true)
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            test_loss = criterion(model(test[:, 0], STEPS), test).item()
        print(f"epoch {epoch + 1}: train {total / (len(train) // BATCH):.4f}, test {test_loss:.4f}")


if __name__ == "__main__":
    main()
