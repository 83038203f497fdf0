"""TD3 learns to open and close a valve so that a tank keeps its level."""
import random

import torch

from agent import TD3, ReplayBuffer

CONFIG = dict(seed=4, warmup=64, env_steps=200, batch_size=32, episode=40, log_every=40)


class Tank:
    """Level and set point; the inflow is disturbed, the valve lets water out."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        self.level = self.rng.uniform(0.2, 0.8)
        self.set_point = self.rng.uniform(0.3, 0.7)
        self.inflow = 0.05
        return self.obs()

    def obs(self):
        return torch.tensor([self.level, self.set_point, self.inflow * 10])

    def step(self, action):
        valve = (action.item() + 1) / 2
        self.inflow = min(0.1, max(0.0, self.inflow + self.rng.gauss(0, 0.005)))
        self.level = min(1.0, max(0.0, self.level + self.inflow - 0.1 * valve))
        reward = -abs(self.level - self.set_point)
        return self.obs(), torch.tensor(reward)


def evaluate(agent, episodes=5, length=40):
    env = Tank(seed=99)
    total = 0.0
    for _ in range(episodes):
        obs = env.reset()
        for _ in range(length):
            obs, reward = env.step(agent.act(obs, explore=0.0))
            total += reward.item()
    return total / episodes


def main(cfg):
    torch.manual_seed(cfg["seed"])
    random.seed(cfg["seed"])
    env = Tank(cfg["seed"])
    agent = TD3(obs_dim=3, act_dim=1)
    buffer = ReplayBuffer()
    critic_losses = []

    obs = env.reset()
    for step in range(1, cfg["env_steps"] + 1):
        if step <= cfg["warmup"]:
            action = 2 * torch.rand(1) - 1
        else:
            action = agent.act(obs)
        nxt, reward = env.step(action)
        buffer.add(obs, action, reward, nxt)
        obs = env.reset() if step % cfg["episode"] == 0 else nxt

        if step > cfg["warmup"]:
            critic_losses.append(agent.update(buffer.sample(cfg["batch_size"])))

        if step % cfg["log_every"] == 0 and critic_losses:
            recent = critic_losses[-cfg["log_every"]:]
            print(f"step {step:3d}  critic {sum(recent) / len(recent):.4f}  "
                  f"actor {agent.last_actor_loss:.4f}  return {evaluate(agent):.3f}")


if __name__ == "__main__":
    main(CONFIG)
