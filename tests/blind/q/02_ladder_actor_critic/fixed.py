"""Advantage actor-critic on a small climbing task.

A climber starts in the middle of a ladder of 9 rungs and earns +1 at the top
rung, -1 on the ground and -0.02 for every move. After each batch of episodes
the critic is regressed on the discounted returns, and the actor takes one policy
gradient step weighted with the advantage. The critic serves the actor only as a
baseline; it learns from its regression loss and from nothing else.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

RUNGS = 9
GAMMA = 0.97


class Ladder:
    def reset(self):
        self.pos = RUNGS // 2
        self.moves = 0
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.pos), RUNGS).float()

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.moves += 1
        if self.pos == RUNGS - 1:
            return self.observe(), 1.0, True
        if self.pos == 0:
            return self.observe(), -1.0, True
        return self.observe(), -0.02, self.moves >= 40


class A2C:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(RUNGS, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(RUNGS, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=5e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def act(self, obs):
        with torch.no_grad():
            return Categorical(logits=self.actor(obs)).sample().item()

    def update(self, obs, actions, returns):
        values = self.critic(obs).squeeze(-1)
        advantage = returns - values

        critic_loss = advantage.pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        log_probs = Categorical(logits=self.actor(obs)).log_prob(actions)
        actor_loss = -(log_probs * advantage.detach()).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        return actor_loss.item(), critic_loss.item()


def collect(env, agent, episodes):
    observations, actions, returns = [], [], []
    for _ in range(episodes):
        obs, done, rewards = env.reset(), False, []
        while not done:
            action = agent.act(obs)
            observations.append(obs)
            actions.append(action)
            obs, reward, done = env.step(action)
            rewards.append(reward)
        g, discounted = 0.0, []
        for r in reversed(rewards):
            g = r + GAMMA * g
            discounted.append(g)
        returns.extend(reversed(discounted))
    return torch.stack(observations), torch.tensor(actions), torch.tensor(returns)


def main():
    torch.manual_seed(5)
    env, agent = Ladder(), A2C()
    for iteration in range(15):
        obs, actions, returns = collect(env, agent, episodes=6)
        actor_loss, critic_loss = agent.update(obs, actions, returns)
        print(f"{iteration:2d}  return {returns.mean():+.3f}  "
              f"actor {actor_loss:+.4f}  critic {critic_loss:.4f}")


if __name__ == "__main__":
    main()
