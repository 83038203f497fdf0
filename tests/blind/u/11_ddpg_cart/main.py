"""DDPG on a one-dimensional cart that has to be brought to rest at the origin."""
import argparse
import copy
from collections import deque
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Batch(NamedTuple):
    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_state: torch.Tensor


class Cart:
    def __init__(self, gen):
        self.gen = gen

    def reset(self):
        self.s = torch.empty(2).uniform_(-1, 1, generator=self.gen)
        return self.s.clone()

    def step(self, force):
        x, v = self.s
        v = 0.8 * v + 0.2 * force.item()
        x = (x + 0.2 * v).clamp(-1.5, 1.5)
        self.s = torch.stack([x, v])
        reward = -(x * x + 0.1 * v * v + 0.01 * force.item() ** 2)
        return self.s.clone(), reward.item()


class Replay:
    def __init__(self, capacity, gen):
        self.items = deque(maxlen=capacity)
        self.gen = gen

    def push(self, *item):
        self.items.append(item)

    def sample(self, n):
        idx = torch.randint(0, len(self.items), (n,), generator=self.gen).tolist()
        s, a, r, s2 = zip(*[self.items[i] for i in idx])
        return Batch(torch.stack(s), torch.stack(a), torch.tensor(r), torch.stack(s2))


def mlp(sizes, last=nn.Identity):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU() if i < len(sizes) - 2 else last()]
    return nn.Sequential(*layers)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = mlp([3, 64, 64, 1])

    def forward(self, state, action):
        return self.q(torch.cat([state, action], 1)).squeeze(1)


class Agent:
    """Every update fits the critic, then improves the actor on the fitted critic, then moves the targets."""

    def __init__(self, args):
        self.gamma, self.tau = args.gamma, args.tau
        self.actor, self.critic = mlp([2, 64, 64, 1], nn.Tanh), Critic()
        self.actor_target = copy.deepcopy(self.actor).requires_grad_(False)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2 * args.lr)

    @torch.no_grad()
    def act(self, state, noise, gen):
        return (self.actor(state) + noise * torch.randn(1, generator=gen)).clamp(-1, 1)

    def update(self, batch):
        with torch.no_grad():
            next_q = self.critic_target(batch.next_state, self.actor_target(batch.next_state))
            target = batch.reward + self.gamma * next_q
        critic_loss = F.mse_loss(self.critic(batch.state, batch.action), target)
        actor_loss = -self.critic(batch.state, self.actor(batch.state)).mean()

        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        with torch.no_grad():
            for net, slow in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, q in zip(net.parameters(), slow.parameters()):
                    q.lerp_(p, self.tau)
        return critic_loss.item(), actor_loss.item()


def main(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    env, replay, agent = Cart(gen), Replay(2000, gen), Agent(args)
    for episode in range(args.episodes):
        state, total, stats = env.reset(), 0.0, []
        for _ in range(20):
            action = agent.act(state, args.noise, gen)
            next_state, reward = env.step(action)
            replay.push(state, action, reward, next_state)
            state, total = next_state, total + reward
        if len(replay.items) >= args.warmup:
            for _ in range(args.updates):
                stats.append(agent.update(replay.sample(args.batch)))
        if stats:
            q, a = (sum(v) / len(v) for v in zip(*stats))
            print(f"episode {episode:2d} return {total:.2f} critic {q:.4f} actor {a:.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=12)
    p.add_argument("--updates", type=int, default=3)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--warmup", type=int, default=60)
    p.add_argument("--gamma", type=float, default=0.9)
    p.add_argument("--tau", type=float, default=0.05)
    p.add_argument("--noise", type=float, default=0.3)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=8)
    main(p.parse_args())
