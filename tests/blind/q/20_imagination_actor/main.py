"""Small Dreamer-style agent.

A recurrent world model is fitted to logged sequences. Then the actor is improved on
imagined rollouts that start from the world model's states: its gradient flows through
the imagined dynamics, but the world model itself learns only from the logged data.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)

OBS, ACT, HID, HORIZON = 3, 1, 24, 6


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(OBS + ACT, HID)
        self.prior = nn.GRUCell(ACT, HID)
        self.decoder = nn.Linear(HID, OBS)
        self.reward = nn.Linear(HID, 1)

    def observe(self, obs, act):
        h = torch.zeros(obs.size(1), HID)
        states = []
        for o, a in zip(obs, act):
            h = self.cell(torch.cat([o, a], -1), h)
            states.append(h)
        return torch.stack(states)

    def loss(self, states, obs, act, rew):
        recon = F.mse_loss(self.decoder(states), obs)
        reward = F.mse_loss(self.reward(states).squeeze(-1), rew)
        predicted = self.prior(act[1:].reshape(-1, ACT), states[:-1].reshape(-1, HID))
        dynamics = F.mse_loss(predicted, states[1:].reshape(-1, HID))
        return recon + reward + dynamics

    def imagine(self, start, actor):
        h, rewards = start.reshape(-1, HID), []
        for _ in range(HORIZON):
            h = self.prior(actor(h), h)
            rewards.append(self.reward(h))
        return torch.stack(rewards)


def logged_batch(T=10, B=16):
    """Damped point masses pushed by random actions; reward for staying near zero."""
    x, v = torch.randn(B), torch.zeros(B)
    obs, acts, rews = [], [], []
    for _ in range(T):
        a = torch.empty(B, ACT).uniform_(-1, 1)
        v = 0.8 * v + a[:, 0]
        x = 0.9 * x + 0.3 * v
        obs.append(torch.stack([x, v, x * v], -1))
        acts.append(a)
        rews.append(-x.pow(2))
    return torch.stack(obs), torch.stack(acts), torch.stack(rews)


world = WorldModel()
actor = nn.Sequential(nn.Linear(HID, 24), nn.ELU(), nn.Linear(24, ACT), nn.Tanh())
world_opt = torch.optim.Adam(world.parameters(), lr=1e-2)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
discount = 0.95 ** torch.arange(HORIZON).view(-1, 1, 1)

for step in range(100):
    obs, act, rew = logged_batch()

    states = world.observe(obs, act)
    world_loss = world.loss(states, obs, act, rew)
    world_opt.zero_grad()
    world_loss.backward()
    world_opt.step()

    imagined = world.imagine(states, actor)
    actor_loss = -(discount * imagined).sum(0).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    if step % 10 == 0:
        print(f"step {step:2d}  world {world_loss.item():.3f}  actor {actor_loss.item():.3f}")
