"""Soft actor-critic (single state features, continuous action) with a learned temperature."""
import copy
import random

import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, obs=3, act=1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 16), nn.ReLU(), nn.Linear(16, 2 * act))

    def sample(self, obs):
        mu, log_std = self.net(obs).chunk(2, -1)
        dist = Normal(mu, log_std.clamp(-3, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action ** 2 + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class Q(nn.Module):
    def __init__(self, obs=3, act=1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs + act, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], -1))


class SAC:
    def __init__(self, gamma=0.9, tau=0.05, target_entropy=-1.0):
        self.gamma, self.tau, self.target_entropy = gamma, tau, target_entropy
        self.pi, self.q = Policy(), Q()
        self.q_target = copy.deepcopy(self.q)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), lr=1e-2)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=1e-2)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-2)

    def update(self, obs, act, rew, nxt):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2 = self.pi.sample(nxt)
            target = rew + self.gamma * (self.q_target(nxt, a2) - alpha * logp2)
        q_loss = F.mse_loss(self.q(obs, act), target)
        self.q_opt.zero_grad(); q_loss.backward(); self.q_opt.step()

        new_act, log_prob = self.pi.sample(obs)
        pi_loss = (alpha * log_prob - self.q(obs, new_act)).mean()
        self.pi_opt.zero_grad(); pi_loss.backward(); self.pi_opt.step()

        alpha_loss = -(self.log_alpha.exp() * (log_prob + self.target_entropy).detach()).mean()
        self.alpha_opt.zero_grad(); alpha_loss.backward(); self.alpha_opt.step()

        with torch.no_grad():
            for p, t in zip(self.q.parameters(), self.q_target.parameters()):
                t.lerp_(p, self.tau)
        return q_loss.item(), pi_loss.item(), self.log_alpha.exp().item()


def main():
    torch.manual_seed(29); random.seed(29)
    replay = []
    for _ in range(64):
        o, a = torch.randn(3), 2 * torch.rand(1) - 1
        replay.append((o, a, -(a - 0.5 * o[:1]) ** 2, 0.5 * o + 0.1 * torch.randn(3)))
    agent = SAC()
    for it in range(25):
        batch = [torch.stack(c) for c in zip(*random.sample(replay, 16))]
        q_loss, pi_loss, alpha = agent.update(*batch)
        if it % 5 == 4:
            print(f"it {it + 1}: q {q_loss:.4f} pi {pi_loss:.4f} alpha {alpha:.4f}")


if __name__ == "__main__":
    main()
