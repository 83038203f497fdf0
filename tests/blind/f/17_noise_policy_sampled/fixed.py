"""Train a stochastic feedback controller through a known, differentiable plant."""
import torch
from torch import nn
from torch.distributions import Normal


class Controller(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.tensor(-1.0))

    def forward(self, state):
        return Normal(self.body(state), self.log_std.exp())


def plant(state, force, dt=0.1):
    """A mass on a line, with friction."""
    position, speed = state.unbind(-1)
    acceleration = force.squeeze(-1) - 0.2 * speed
    speed = speed + dt * acceleration
    return torch.stack([position + dt * speed, speed], -1)


def rollout_cost(controller, state, horizon=20):
    cost = torch.zeros(())
    for _ in range(horizon):
        force = controller(state).rsample()
        state = plant(state, force)
        cost = cost + state.pow(2).sum(-1).mean() + 0.01 * force.pow(2).mean()
    return cost / horizon


def main(iterations=60):
    torch.manual_seed(41)
    controller = Controller()
    optimizer = torch.optim.Adam(controller.parameters(), lr=1e-2)
    for iteration in range(iterations):
        start = 2 * torch.rand(64, 2) - 1
        cost = rollout_cost(controller, start)
        optimizer.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(controller.parameters(), 5.0)
        optimizer.step()
        if iteration % 12 == 0:
            print(f"iteration {iteration}: cost {cost.item():.4f}, std {controller.log_std.exp().item():.3f}")


if __name__ == "__main__":
    main()
