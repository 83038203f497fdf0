"""Level control of two coupled tanks: replay data, actor-critic updates, evaluation."""
import argparse
from collections import deque
import random

import torch

from agent import ControlAgent


class CoupledTanks:
    def __init__(self, n=16, horizon=30):
        self.n, self.horizon = n, horizon

    def reset(self):
        self.level = torch.rand(self.n, 2)
        self.goal = 0.3 + 0.4 * torch.rand(self.n, 1)
        self.t = 0
        return self.observe()

    def observe(self):
        return torch.cat([self.level, self.goal, self.goal - self.level[:, 1:]], dim=1)

    def step(self, action):
        pump = 0.5 * (action[:, 0] + 1)
        h1, h2 = self.level.clamp(min=0).unbind(1)
        q12 = 0.25 * h1.sqrt()
        out = 0.2 * h2.sqrt()
        self.level = torch.stack([h1 + 0.3 * pump - q12, h2 + q12 - out], dim=1).clamp(0, 1.5)
        self.t += 1
        reward = -((self.level[:, 1:] - self.goal) ** 2).sum(1) * 10
        done = torch.full((self.n,), float(self.t >= self.horizon))
        return self.observe(), reward, done


class Replay:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)

    def add(self, *transition):
        self.items.extend(zip(*transition))

    def sample(self, size, rng):
        chosen = rng.sample(list(self.items), size)
        return tuple(torch.stack(col) for col in zip(*chosen))


def rollout(env, agent, replay=None, noise=0.0):
    obs, total, done = env.reset(), 0.0, torch.zeros(1)
    while not done.any():
        act = agent.act(obs, noise)
        nxt, rew, done = env.step(act)
        if replay is not None:
            replay.add(obs, act, rew, nxt, torch.zeros_like(done))
        total += rew.mean().item()
        obs = nxt
    return total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=6)
    p.add_argument("--updates", type=int, default=5)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)

    env, replay = CoupledTanks(), Replay(4000)
    agent = ControlAgent(obs_dim=4, act_dim=1)
    rollout(env, agent, replay, noise=0.8)
    for episode in range(args.episodes):
        rollout(env, agent, replay, noise=0.3)
        logs = [agent.update(replay.sample(args.batch, rng)) for _ in range(args.updates)]
        c, a = (sum(col) / len(col) for col in zip(*logs))
        print(f"episode {episode + 1}  critic {c:.4f}  actor {a:.4f}  return {rollout(env, agent):.3f}")


if __name__ == "__main__":
    main()
