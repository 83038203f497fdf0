"""Actor and value function trained inside a learned world model (the model itself is given)."""
import torch
from torch import nn
import torch.nn.functional as F


class World(nn.Module):
    def __init__(self, state=4, action=2):
        super().__init__()
        self.move = nn.Linear(state + action, state)
        self.reward = nn.Linear(state, 1)

    def forward(self, state, action):
        after = torch.tanh(self.move(torch.cat([state, action], -1)))
        return after, self.reward(after)


class Imagination:
    def __init__(self, world, actor, horizon):
        self.world, self.actor, self.horizon = world, actor, horizon

    def roll(self, state):
        states, rewards = [], []
        for _ in range(self.horizon):
            state, reward = self.world(state, torch.tanh(self.actor(state)))
            states.append(state)
            rewards.append(reward)
        return torch.stack(states), torch.stack(rewards)


def lambda_returns(rewards, values, discount=0.95, lam=0.8):
    back = values[-1]
    out = []
    for t in reversed(range(len(rewards))):
        back = rewards[t] + discount * ((1 - lam) * values[t] + lam * back)
        out.insert(0, back)
    return torch.stack(out)


def behave(imagination, value, optimizers, start):
    """One update of actor and value function from imagined states."""
    states, rewards = imagination.roll(start)
    returns = lambda_returns(rewards, value(states))
    actor_loss = -returns.mean()
    optimizers["actor"].zero_grad()
    actor_loss.backward()
    optimizers["actor"].step()

    value_loss = F.mse_loss(value(states.detach()), returns.detach())
    optimizers["value"].zero_grad()
    value_loss.backward()
    optimizers["value"].step()
    return {"actor": actor_loss.item(), "value": value_loss.item()}


def main():
    torch.manual_seed(8)
    world = World().requires_grad_(False)
    actor = nn.Sequential(nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 2))
    value = nn.Sequential(nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 1))
    optimizers = {
        "actor": torch.optim.Adam(actor.parameters(), lr=1e-2),
        "value": torch.optim.Adam(value.parameters(), lr=1e-2),
    }
    imagination = Imagination(world, actor, horizon=4)
    random = torch.Generator().manual_seed(88)
    for step in range(12):
        report = behave(imagination, value, optimizers, torch.randn(6, 4, generator=random))
        if step % 4 == 3:
            print(step + 1, {name: round(each, 4) for name, each in report.items()})


if __name__ == "__main__":
    main()
