"""Off-policy actor-critic (DDPG) that balances a cart on a rough track.

One call of `learn`:
  1. move the critic towards the one-step target of the slow copies,
  2. move the actor uphill on the critic that has just been refreshed,
  3. let the slow copies follow.
"""
import copy
import random

import torch
import torch.nn as nn

torch.manual_seed(9)
random.seed(9)


class Track:
    """Position and speed of a cart; pushing costs a little, being off centre costs more."""

    def __init__(self):
        self.where = torch.zeros(2)

    def reset(self):
        self.where = torch.randn(2) * 0.5
        return self.where.clone()

    def push(self, force):
        place, speed = self.where
        speed = 0.9 * speed + 0.2 * force + 0.05 * torch.sin(3 * place)
        place = place + 0.2 * speed
        self.where = torch.stack([place, speed])
        reward = -(place**2) - 0.1 * force**2
        return self.where.clone(), reward.item()


class Memory:
    def __init__(self, room=500):
        self.room = room
        self.items = []

    def add(self, *item):
        self.items.append(item)
        if len(self.items) > self.room:
            self.items.pop(0)

    def draw(self, count):
        picked = random.sample(self.items, count)
        before, force, reward, after = zip(*picked)
        return (torch.stack(before), torch.stack(force), torch.tensor(reward).unsqueeze(1), torch.stack(after))


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))


class Agent:
    def __init__(self, discount=0.95, follow=0.05):
        self.actor = mlp(2, 1)
        self.critic = mlp(3, 1)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.discount = discount
        self.follow = follow

    def act(self, seen, noise=0.3):
        with torch.no_grad():
            force = torch.tanh(self.actor(seen))
        return (force + noise * torch.randn(1)).clamp(-1, 1)

    def learn(self, before, force, reward, after):
        with torch.no_grad():
            next_force = torch.tanh(self.slow_actor(after))
            target = reward + self.discount * self.slow_critic(torch.cat([after, next_force], 1))
        value = self.critic(torch.cat([before, force], 1))
        surprise = (value - target).pow(2).mean()

        self.critic_opt.zero_grad()
        surprise.backward()
        self.critic_opt.step()

        own_force = torch.tanh(self.actor(before))
        merit = self.critic(torch.cat([before, own_force], 1)).mean()
        self.actor_opt.zero_grad()
        (-merit).backward()
        self.actor_opt.step()

        with torch.no_grad():
            for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
                for s, f in zip(slow.parameters(), fast.parameters()):
                    s.lerp_(f, self.follow)
        return surprise.item(), merit.item()


def main():
    track, memory, agent = Track(), Memory(), Agent()
    for episode in range(4):
        seen, total = track.reset(), 0.0
        for _ in range(20):
            force = agent.act(seen)
            after, reward = track.push(force[0])
            memory.add(seen, force, reward, after)
            seen, total = after, total + reward
            if len(memory.items) >= 24:
                surprise, merit = agent.learn(*memory.draw(24))
        print(f"episode {episode}: return {total:.2f}")
    print(f"last surprise {surprise:.3f}, merit {merit:.3f}")


if __name__ == "__main__":
    main()
