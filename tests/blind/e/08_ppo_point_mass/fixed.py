"""PPO on a one-dimensional point mass that has to be brought to the origin."""
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.distributions import Categorical


class PointMass:
    moves = (-0.2, 0.0, 0.2)

    def reset(self):
        self.x = torch.rand(()).item() * 2 - 1
        self.v, self.t = 0.0, 0
        return torch.tensor([self.x, self.v])

    def step(self, action):
        self.v = 0.8 * self.v + self.moves[action]
        self.x += 0.2 * self.v
        self.t += 1
        return torch.tensor([self.x, self.v]), -0.2 * abs(self.x), self.t >= 16


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, 3)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    log_probs: list = field(default_factory=list)
    values: list = field(default_factory=list)
    returns: list = field(default_factory=list)

    def tensors(self):
        advantages = torch.tensor(self.returns) - torch.stack(self.values)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return (torch.stack(self.obs), torch.stack(self.actions), torch.stack(self.log_probs),
                torch.tensor(self.returns), advantages)


def collect(env, model, episodes, gamma=0.95):
    rollout, scores = Rollout(), []
    for _ in range(episodes):
        obs, done, rewards = env.reset(), False, []
        while not done:
            with torch.no_grad():
                dist, value = model(obs)
            action = dist.sample()
            rollout.obs.append(obs)
            rollout.actions.append(action)
            rollout.log_probs.append(dist.log_prob(action))
            rollout.values.append(value)
            obs, reward, done = env.step(action.item())
            rewards.append(reward)
        scores.append(sum(rewards))
        rollout.returns += [sum(gamma ** k * r for k, r in enumerate(rewards[t:])) for t in range(len(rewards))]
    return rollout, sum(scores) / episodes


def improve(model, optimizer, rollout, epochs=3, batch_size=32, clip=0.2):
    obs, actions, old_log_probs, returns, advantages = rollout.tensors()
    for _ in range(epochs):
        for index in torch.randperm(len(obs)).split(batch_size):
            dist, values = model(obs[index])
            ratio = (dist.log_prob(actions[index]) - old_log_probs[index]).exp()
            adv = advantages[index]
            surrogate = torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
            loss = 0.5 * (values - returns[index]).pow(2).mean() - surrogate
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(9)
    model, env = ActorCritic(), PointMass()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for iteration in range(10):
        rollout, score = collect(env, model, episodes=10)
        improve(model, optimizer, rollout)
        print(f"iteration {iteration}: score {score:.3f}")
