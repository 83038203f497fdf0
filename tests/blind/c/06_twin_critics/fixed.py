"""Twin critics on a shared encoder, trained from a fixed batch of transitions."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Transitions:
    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    after: torch.Tensor


class Encoder(nn.Module):
    def __init__(self, obs, size):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, size), nn.ELU(), nn.Linear(size, size), nn.LayerNorm(size))

    def forward(self, obs):
        return self.net(obs)


def head(size, action):
    return nn.Sequential(nn.Linear(size + action, 16), nn.ReLU(), nn.Linear(16, 1))


class Agent:
    def __init__(self, obs=4, action=2, size=10, gamma=0.9):
        self.encoder = Encoder(obs, size)
        self.critics = nn.ModuleList([head(size, action), head(size, action)])
        self.gamma = gamma
        parameters = [*self.encoder.parameters(), *self.critics.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-2)

    @torch.no_grad()
    def target(self, batch):
        z = self.encoder(batch.after)
        action = torch.zeros_like(batch.action)
        values = [critic(torch.cat([z, action], 1)) for critic in self.critics]
        return batch.reward + self.gamma * torch.minimum(*values)

    def update(self, batch):
        target = self.target(batch)
        z = self.encoder(batch.state)
        self.optimizer.zero_grad()
        errors, total = [], 0.0
        for critic in self.critics:
            value = critic(torch.cat([z, batch.action], 1))
            error = nn.functional.smooth_l1_loss(value, target)
            total = total + error
            errors.append(error.item())
        total.backward()
        self.optimizer.step()
        return errors


def replay(steps, size=16):
    random = torch.Generator().manual_seed(66)
    for _ in range(steps):
        state = torch.randn(size, 4, generator=random)
        action = torch.rand(size, 2, generator=random)
        reward = (state[:, :2] * action).sum(1, keepdim=True)
        yield Transitions(state, action, reward, state * 0.9)


def main():
    torch.manual_seed(6)
    agent = Agent()
    for number, batch in enumerate(replay(12)):
        errors = agent.update(batch)
        if number % 4 == 3:
            print(number + 1, " ".join(f"{each:.4f}" for each in errors))


if __name__ == "__main__":
    main()
