"""Deterministic policy gradient on a one-step control problem: critic on data, actor through the critic."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, o))


class Agent:
    def __init__(self, state=3, action=1, tau=0.1, gamma=0.8):
        self.actor, self.critic = mlp(state, action), mlp(state + action, 1)
        self.target_actor, self.target_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=5e-3)
        self.tau, self.gamma = tau, gamma

    def q(self, net, s, a):
        return net(torch.cat([s, a], 1))

    def update(self, s, a, r, s2):
        with torch.no_grad():
            a2 = self.target_actor(s2).tanh()
            target = r + self.gamma * self.q(self.target_critic, s2, a2)
        critic_loss = F.mse_loss(self.q(self.critic, s, a), target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        # the critic collects gradients here too; they are cleared before its next backward
        actor_loss = -self.q(self.critic, s, self.actor(s).tanh()).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        for net, target_net in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
            for p, t in zip(net.parameters(), target_net.parameters()):
                t.data.lerp_(p.data, self.tau)
        return critic_loss.item(), actor_loss.item()


def transitions(n):
    s = torch.randn(n, 3)
    a = 2 * torch.rand(n, 1) - 1
    wanted = torch.tanh(s[:, :1])
    r = 1 - (a - wanted).square()
    return s, a, r, 0.5 * s + 0.1 * torch.randn(n, 3)


torch.manual_seed(58)
agent = Agent()
for it in range(150):
    critic_loss, actor_loss = agent.update(*transitions(64))
    if it % 30 == 29:
        s = torch.randn(256, 3)
        with torch.no_grad():
            miss = (agent.actor(s).tanh() - torch.tanh(s[:, :1])).abs().mean().item()
        print(f"iteration {it}: critic {critic_loss:.4f}  value {-actor_loss:.3f}  distance to best action {miss:.3f}")
