"""DDPG with target smoothing for heating a greenhouse.

Each update: the critic takes one step towards the bootstrapped target, then the
actor takes one step that raises the value the updated critic gives its actions,
then both target networks move a little.
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

OBS_DIM, ACT_DIM = 4, 1
GAMMA, POLYAK = 0.97, 0.99


def mlp(sizes, final=None):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    layers = layers[:-1]
    if final is not None:
        layers.append(final)
    return nn.Sequential(*layers)


class Greenhouse:
    """Temperature, outside temperature, sun and humidity; the action is heating in [-1, 1]."""

    def reset(self, n):
        self.obs = 0.5 * torch.randn(n, OBS_DIM)
        return self.obs

    def step(self, action):
        temp, outside, sun, humid = self.obs.unbind(dim=1)
        heat = action.squeeze(1)
        new_temp = temp + 0.3 * heat + 0.2 * (outside - temp) + 0.1 * sun
        noise = 0.05 * torch.randn_like(self.obs)
        nxt = torch.stack([new_temp, 0.95 * outside, -0.9 * sun, 0.9 * humid - 0.1 * heat], dim=1)
        reward = -(new_temp - 0.5) ** 2 - 0.05 * heat ** 2
        self.obs = nxt + noise
        return self.obs, reward


class Agent:
    def __init__(self):
        self.actor = mlp([OBS_DIM, 48, 48, ACT_DIM], nn.Tanh())
        self.critic = mlp([OBS_DIM + ACT_DIM, 48, 48, 1])
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def q(self, net, obs, act):
        return net(torch.cat([obs, act], dim=1)).squeeze(1)

    def critic_loss(self, obs, act, rew, nxt):
        with torch.no_grad():
            noise = (0.1 * torch.randn_like(act)).clamp(-0.2, 0.2)
            next_act = (self.actor_target(nxt) + noise).clamp(-1, 1)
            target = rew + GAMMA * self.q(self.critic_target, nxt, next_act)
        return F.mse_loss(self.q(self.critic, obs, act), target)

    def actor_loss(self, obs):
        return -self.q(self.critic, obs, self.actor(obs)).mean()

    def update(self, batch):
        obs, act, rew, nxt = batch
        loss_q = self.critic_loss(obs, act, rew, nxt)
        loss_pi = self.actor_loss(obs)

        self.critic_opt.zero_grad()
        loss_q.backward()
        self.critic_opt.step()

        self.actor_opt.zero_grad()
        loss_pi.backward()
        self.actor_opt.step()

        with torch.no_grad():
            for net, tgt in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, p_t in zip(net.parameters(), tgt.parameters()):
                    p_t.mul_(POLYAK).add_(p, alpha=1 - POLYAK)
        return loss_q.item(), loss_pi.item()


def collect(env, agent, n=32, horizon=10):
    rows = []
    obs = env.reset(n)
    for _ in range(horizon):
        with torch.no_grad():
            act = (agent.actor(obs) + 0.3 * torch.randn(n, ACT_DIM)).clamp(-1, 1)
        nxt, rew = env.step(act)
        rows.append((obs, act, rew, nxt))
        obs = nxt
    return [torch.cat(col) for col in zip(*rows)]


def main():
    torch.manual_seed(5)
    env, agent = Greenhouse(), Agent()
    for round_ in range(10):
        data = collect(env, agent)
        for _ in range(10):
            idx = torch.randint(0, len(data[0]), (64,))
            loss_q, loss_pi = agent.update([col[idx] for col in data])
        print(f"round {round_}  reward {data[2].mean().item():.4f}  q {loss_q:.4f}  pi {loss_pi:.4f}")


if __name__ == "__main__":
    main()
