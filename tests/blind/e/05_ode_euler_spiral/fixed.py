"""Learn the vector field of a damped spiral from noisy trajectories (a neural ODE with a fixed-step solver)."""
import torch
import torch.nn as nn

CONFIG = {"seed": 7, "trajectories": 24, "points": 20, "t_end": 3.0, "noise": 0.02, "hidden": 32, "lr": 1e-2, "iters": 40}


class VectorField(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, t, y):
        return self.net(y)


def odeint(func, y0, times):
    """Euler's method; the solution at all `times`, the first of them included."""
    solution = [y0]
    for i in range(len(times) - 1):
        dt = times[i + 1] - times[i]
        solution.append(solution[i] + dt * func(times[i], solution[i]))
    return torch.stack(solution)


def make_data(cfg):
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    fine = torch.linspace(0, cfg["t_end"], cfg["points"] * 20)
    y0 = torch.randn(cfg["trajectories"], 2)
    with torch.no_grad():
        path = odeint(lambda t, y: y @ matrix.T, y0, fine)
    keep = torch.linspace(0, len(fine) - 1, cfg["points"]).long()
    observed = path[keep] + cfg["noise"] * torch.randn(cfg["points"], cfg["trajectories"], 2)
    return fine[keep], y0, observed


def make_step(field, optimizer, times):
    def step(y0, observed):
        optimizer.zero_grad()
        predicted = odeint(field, y0, times)
        loss = (predicted - observed).abs().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def run(cfg):
    torch.manual_seed(cfg["seed"])
    times, y0, observed = make_data(cfg)
    field = VectorField(cfg["hidden"])
    optimizer = torch.optim.RMSprop(field.parameters(), lr=cfg["lr"])
    step = make_step(field, optimizer, times)
    test = slice(0, 4)
    for it in range(cfg["iters"]):
        chosen = 4 + torch.randperm(cfg["trajectories"] - 4)[:10]
        loss = step(y0[chosen], observed[:, chosen])
        if it % 10 == 9:
            with torch.no_grad():
                error = (odeint(field, y0[test], times) - observed[:, test]).abs().mean()
            print(f"iter {it + 1:3d}  train {loss:.4f}  test {error.item():.4f}")


run(CONFIG)
