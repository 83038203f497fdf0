"""Actor and value network trained on imagined flights of a glider.

A flight is rolled out through the (known, differentiable) dynamics, so the
actor's gradient goes through the dynamics and through the value network. Both
losses of a step are taken on the same flights, and on the lambda-returns under
the value network that the step began with.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "batch": 32,
    "horizon": 10,
    "steps": 80,
    "gamma": 0.98,
    "lam": 0.9,
    "actor_lr": 3e-3,
    "value_lr": 3e-3,
    "clip_grad": 50.0,
    "seed": 1,
}


class GliderDynamics:
    """Height, sink rate and distance to the thermal; the action is the bank angle."""

    def __init__(self, generator):
        self.g = generator

    def start(self, n):
        return torch.randn(n, 3, generator=self.g)

    def step(self, state, action):
        height, sink, dist = state.unbind(1)
        lift = torch.exp(-dist.pow(2))
        sink = 0.8 * sink + 0.3 * (0.4 - lift)
        height = height - 0.2 * sink
        dist = dist + 0.3 * action.squeeze(1)
        return torch.stack([height, sink, dist], dim=1)

    def reward(self, state, action):
        return -state[:, 1] - 0.05 * action.squeeze(1).pow(2)


class Actor(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ELU(), nn.Linear(hidden, 2))

    def forward(self, state):
        mean, log_std = self.net(state).chunk(2, dim=1)
        noise = torch.randn_like(mean)
        return torch.tanh(mean + noise * log_std.clamp(-4, 0).exp())


def make_value(hidden=48):
    return nn.Sequential(nn.Linear(3, hidden), nn.ELU(), nn.Linear(hidden, 1))


def imagine(actor, dynamics, cfg):
    state = dynamics.start(cfg["batch"])
    states, rewards = [state], []
    for _ in range(cfg["horizon"]):
        action = actor(state)
        rewards.append(dynamics.reward(state, action))
        state = dynamics.step(state, action)
        states.append(state)
    return torch.stack(states), torch.stack(rewards)


def lambda_returns(rewards, values, gamma, lam):
    out, last = [], values[-1]
    for t in reversed(range(len(rewards))):
        last = rewards[t] + gamma * ((1 - lam) * values[t + 1] + lam * last)
        out.append(last)
    return torch.stack(out[::-1])


def train(cfg):
    torch.manual_seed(cfg["seed"])
    dynamics = GliderDynamics(torch.Generator().manual_seed(cfg["seed"]))
    actor, value = Actor(), make_value()
    actor_opt = torch.optim.Adam(actor.parameters(), lr=cfg["actor_lr"])
    value_opt = torch.optim.Adam(value.parameters(), lr=cfg["value_lr"])

    for step in range(cfg["steps"]):
        states, rewards = imagine(actor, dynamics, cfg)
        returns = lambda_returns(rewards, value(states).squeeze(-1), cfg["gamma"], cfg["lam"])

        # actor: ascent on the returns
        actor_loss = -returns.mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), cfg["clip_grad"])
        actor_opt.step()

        # value network: regression on the returns
        predicted = value(states[:-1].detach()).squeeze(-1)
        value_loss = 0.5 * F.mse_loss(predicted, returns.detach())
        value_opt.zero_grad()
        value_loss.backward()
        nn.utils.clip_grad_norm_(value.parameters(), cfg["clip_grad"])
        value_opt.step()

        if step % 10 == 0:
            print(f"step {step:3d}  actor {actor_loss.item():.4f}  value {value_loss.item():.4f}  "
                  f"reward {rewards.mean().item():.4f}")
    return actor, value


if __name__ == "__main__":
    train(CONFIG)
