"""World model in the manner of Dreamer, on a linear toy system.

The recurrent state of the last batch is kept on self and starts the next one; the
actor learns through the model's imagination.  Everything that crosses an update
is detached when it is stored, and each optimizer clears its own gradients.
"""
import torch
import torch.nn as nn


class World(nn.Module):
    def __init__(self, obs=3, act=1, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(obs + act, hidden)
        self.obs_head = nn.Linear(hidden, obs)
        self.reward_head = nn.Linear(hidden, 1)


class Dreamer:
    def __init__(self, batch=8):
        self.world = World()
        self.actor = nn.Sequential(nn.Linear(12, 16), nn.ELU(), nn.Linear(16, 1), nn.Tanh())
        self.opt_world = torch.optim.Adam(self.world.parameters(), lr=4e-3)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.state = torch.zeros(batch, 12)
        self.history = []

    def observe(self, obs, act, reward):
        h, states, loss = self.state, [], 0.0
        for t in range(obs.size(1) - 1):
            h = self.world.cell(torch.cat([obs[:, t], act[:, t]], -1), h)
            loss = loss + (self.world.obs_head(h) - obs[:, t + 1]).pow(2).mean()
            loss = loss + (self.world.reward_head(h).squeeze(-1) - reward[:, t]).pow(2).mean()
            states.append(h)
        self.opt_world.zero_grad()
        loss.backward()
        self.opt_world.step()
        self.state = h.detach()
        self.history.append(float(loss))
        return torch.cat(states).detach()

    def imagine(self, start, horizon=4):
        h, gain, discount = start, 0.0, 1.0
        for _ in range(horizon):
            h = self.world.cell(torch.cat([self.world.obs_head(h), self.actor(h)], -1), h)
            gain = gain + discount * self.world.reward_head(h).mean()
            discount *= 0.95
        self.opt_actor.zero_grad()
        (-gain).backward()
        self.opt_actor.step()
        return gain.item()


def experience(batch=8, length=6):
    obs = [torch.randn(batch, 3)]
    act = torch.rand(batch, length, 1) * 2 - 1
    for t in range(length - 1):
        obs.append(0.9 * obs[-1] + 0.3 * act[:, t])
    obs = torch.stack(obs, 1)
    return obs, act, -obs.pow(2).sum(-1)


if __name__ == "__main__":
    torch.manual_seed(27)
    agent = Dreamer()
    for it in range(8):
        start = agent.observe(*experience())
        gain = agent.imagine(start)
        if it % 2 == 0:
            print(it, f"model {agent.history[-1]:.4f} imagined {gain:+.4f}")
