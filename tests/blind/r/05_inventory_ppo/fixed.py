# PPO for a one-product warehouse: how much to order each day.
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(21)

N_SHOPS = 8          # warehouses simulated side by side
HORIZON = 24
K_EPOCHS = 4
ITERATIONS = 12
GAMMA = 0.96
CLIP = 0.2
N_ORDERS = 5         # order 0, 2, 4, 6 or 8 units


class WarehouseEnv:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.stock = torch.randint(2, 10, (self.n,)).float()
        self.day = torch.zeros(self.n)
        return self.obs()

    def obs(self):
        season = torch.sin(self.day / 7 * 6.283)
        return torch.stack([self.stock / 10, season, torch.ones(self.n)], dim=1)

    def step(self, action):
        demand = torch.poisson(4 + 2 * torch.sin(self.day / 7 * 6.283))
        self.stock = self.stock + 2.0 * action
        sold = torch.minimum(self.stock, demand)
        self.stock = (self.stock - sold).clamp(max=20)
        reward = sold - 0.15 * self.stock - 0.5 * (demand - sold)
        self.day = self.day + 1
        return self.obs(), reward * 0.1


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.obs, self.actions, self.logprobs, self.rewards = [], [], [], []

    def add(self, obs, action, logprob, reward):
        self.obs.append(obs)
        self.actions.append(action)
        self.logprobs.append(logprob)
        self.rewards.append(reward)

    def returns(self):
        out, running = [], torch.zeros(N_SHOPS)
        for r in reversed(self.rewards):
            running = r + GAMMA * running
            out.insert(0, running)
        return torch.cat(out)


class PPO:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, N_ORDERS))
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([
            {"params": self.actor.parameters(), "lr": 3e-3},
            {"params": self.critic.parameters(), "lr": 6e-3},
        ])
        self.buffer = RolloutBuffer()

    def act(self, obs):
        dist = Categorical(logits=self.actor(obs))
        action = dist.sample()
        return action, dist.log_prob(action)

    def update(self):
        obs = torch.cat(self.buffer.obs)
        actions = torch.cat(self.buffer.actions)
        old_logprobs = torch.cat(self.buffer.logprobs).detach()
        returns = self.buffer.returns()

        for _ in range(K_EPOCHS):
            dist = Categorical(logits=self.actor(obs))
            logprobs = dist.log_prob(actions)
            values = self.critic(obs).squeeze(1)
            advantages = returns - values.detach()
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)

            ratios = torch.exp(logprobs - old_logprobs)
            clipped = torch.clamp(ratios, 1 - CLIP, 1 + CLIP)
            policy_loss = -torch.min(ratios * advantages, clipped * advantages).mean()
            value_loss = nn.functional.mse_loss(values, returns)
            loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()

            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.buffer.clear()
        return loss.item()


def main():
    env = WarehouseEnv(N_SHOPS)
    agent = PPO()
    for it in range(ITERATIONS):
        obs = env.reset()
        total = 0.0
        for _ in range(HORIZON):
            action, logprob = agent.act(obs)
            next_obs, reward = env.step(action)
            agent.buffer.add(obs, action, logprob, reward)
            obs = next_obs
            total += reward.mean().item()
        loss = agent.update()
        if it % 2 == 0:
            print(f"iteration {it:2d}  return {total:7.3f}  loss {loss:.4f}")


main()
